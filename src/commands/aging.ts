import type { Estimate, Shape } from '../hazard.ts';
import type { Evidence } from '../learned-windows.ts';
import type { ShownWindow } from '../windows.ts';
import type { Command } from './command.ts';

export const agingCommand: Command = {
  name: 'aging',
  summary: 'Show the ageing windows in force, what was learned, and from how much.',
  arguments: [],
  options: {},
  example: 'npx superseded aging',
  async run(context) {
    const { print } = context;
    const answer = await context.open().for(context.user, 'cli').aging();
    const width = Math.max('any other'.length, ...answer.windows.map(({ topic }) => topic?.length ?? 0));
    const indent = ' '.repeat(width + 2);
    return {
      json: answer,
      text: () =>
        answer.windows
          .flatMap((window) => [
            `${(window.topic ?? 'any other').padEnd(width)}  ${pace(window)} ${print.colour.dim(`(${SOURCES[window.source]})`)}`,
            `${indent}${window.curve} ${print.colour.dim('over a year')}`,
            ...evidenceLines(window).map((line) => `${indent}${print.colour.dim(line)}`),
          ])
          .join('\n'),
    };
  },
};

const SOURCES: Readonly<Record<ShownWindow['source'], string>> = {
  table: 'the default',
  pinned: 'pinned',
  own: 'learned from your own changes of mind',
  everyone: 'learned from everyone’s changes of mind',
};

const pace = ({ halfLifeHours, floor }: ShownWindow): string =>
  halfLifeHours === null ? 'never ages' : `halves in ${span(halfLifeHours)}, floor ${floor}`;

/** In hours below two days, in years from three years on. */
function span(hours: number): string {
  const days = hours / 24;
  const [value, unit] = days < 2 ? [hours, 'hour'] : days < 1095 ? [days, 'day'] : [days / 365, 'year'];
  const rounded = Number(value.toPrecision(value >= 100 ? 3 : 2));
  return `${rounded.toLocaleString('en')} ${unit}${rounded === 1 ? '' : 's'}`;
}

function evidenceLines({ own, everyone }: ShownWindow): string[] {
  const lines: string[] = [];
  if (own && own.lives > 0) lines.push(evidence(own));
  if (own?.shape) lines.push(shape(own.shape));
  if (everyone && everyone.lives > 0) lines.push(`everyone: ${evidence(everyone)}`);
  return lines;
}

/** An estimate without a single change is the prior’s and the exposure’s alone: not worth a line. */
function evidence({ events, lives, exposureHours, estimate }: Evidence): string {
  const seen = `${counted(events, 'change')} of mind in ${counted(lives, 'memory')} over ${span(exposureHours)}`;
  return events > 0 && estimate ? `${seen}: ${estimated(estimate)}` : seen;
}

const PLURALS = { change: 'changes', memory: 'memories' } as const;
const counted = (count: number, what: keyof typeof PLURALS): string =>
  `${count.toLocaleString('en')} ${count === 1 ? what : PLURALS[what]}`;

const estimated = ({ halfLifeHours, low, high, narrow }: Estimate & { narrow: boolean }): string =>
  `half-life ${span(halfLifeHours)}, 90 % between ${span(low)} and ${span(high)}${narrow ? '' : ', too wide to use'}`;

const shape = ({ shape: k, pValue, better }: Shape): string => {
  const p = pValue < 0.001 ? 'p < 0.001' : `p = ${pValue.toFixed(3)}`;
  if (better === 'exponential') return `a constant rate fits (Weibull shape ${k.toFixed(2)}, ${p})`;
  const meaning = k < 1 ? 'safer than its age says' : 'less safe than its age says';
  return `a Weibull of shape ${k.toFixed(2)} fits better (${p}): what has lasted is ${meaning}`;
};
