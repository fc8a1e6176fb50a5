/** How fast memories fade, as data: one window per topic, and the named presets of a recall. */

/** The pace of a group of topics. `halfLifeHours: null` never ages; the weight never falls below `floor`. */
export interface Window {
  topics: readonly string[];
  /** Hours after which the part above the floor has halved. */
  halfLifeHours: number | null;
  /** 0…1. */
  floor: number;
}

export interface AgingTable {
  windows: readonly Window[];
  /** For every topic that no window names. */
  otherwise: Omit<Window, 'topics'>;
}

/** People change their minds in weeks, plans expire in days, what happened stays true, an allergy never fades. */
export const DEFAULT_AGING: AgingTable = {
  windows: [
    { topics: ['preference', 'opinion'], halfLifeHours: 1080, floor: 0.25 },
    { topics: ['plan'], halfLifeHours: 720, floor: 0.1 },
    { topics: ['event', 'fact'], halfLifeHours: 8760, floor: 0.5 },
    { topics: ['constraint', 'landmark'], halfLifeHours: null, floor: 1 },
  ],
  otherwise: { halfLifeHours: 1440, floor: 0.25 },
};

export const PRESETS = {
  /** Windows by topic. */
  default: DEFAULT_AGING,
  /** No ageing: every age weight is 1. */
  flat: { windows: [], otherwise: { halfLifeHours: null, floor: 1 } },
  /** One window for all, down to nothing: a 45-day-old memory scores exactly half. */
  'single-window': { windows: [], otherwise: { halfLifeHours: 1080, floor: 0 } },
} as const satisfies Record<string, AgingTable>;

export type Preset = keyof typeof PRESETS;
export const PRESET_NAMES = Object.keys(PRESETS) as Preset[];

export const windowOf = (table: AgingTable, topic: string): Omit<Window, 'topics'> =>
  table.windows.find((window) => window.topics.includes(topic)) ?? table.otherwise;

/** A window as it is shown: one topic, or `null` for every topic without a window of its own. */
export interface WindowInForce {
  topic: string | null;
  halfLifeHours: number | null;
  floor: number;
  /** Where it comes from. */
  source: 'table';
}

export const windowsInForce = (table: AgingTable): WindowInForce[] => [
  ...table.windows.flatMap(({ topics, halfLifeHours, floor }) =>
    topics.map((topic) => ({ topic, halfLifeHours, floor, source: 'table' as const })),
  ),
  { topic: null, ...table.otherwise, source: 'table' },
];
