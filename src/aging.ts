/** How fast memories fade, as data: one window per topic, and the named presets of a recall. */

/** How fast memories fade. `halfLifeHours: null` never ages; the weight never falls below `floor`. */
export interface Pace {
  /** Hours after which the part above the floor has halved. */
  halfLifeHours: number | null;
  /** 0…1. */
  floor: number;
}

export interface Window extends Pace {
  topics: readonly string[];
}

export interface AgingTable {
  windows: readonly Window[];
  /** For every topic that no window names. */
  otherwise: Pace;
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

export const windowOf = (table: AgingTable, topic: string): Pace =>
  table.windows.find((window) => window.topics.includes(topic)) ?? table.otherwise;
