import type { WeibullFit } from '../hazard.ts';
import type { Evidence, LearnFrom } from '../learned-windows.ts';
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
          .concat(print.colour.dim(LEARNING[answer.learnFrom]))
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

const LEARNING: Readonly<Record<LearnFrom, string>> = {
  off: 'Learning is off: SUPERSEDED_LEARN_WINDOWS.',
  own: 'Windows are learned from your own changes of mind, once these are sure of one (from 23 in a topic on).',
  everyone: 'Windows are learned from your own changes of mind, and from those of all users where yours are too few.',
};

const pace = ({ halfLifeHours, floor }: ShownWindow): string =>
  halfLifeHours === null ? 'never ages' : `halves in ${span(halfLifeHours)}, floor ${floor}`;

/** In hours below two days, in years from three years on. */
function span(hours: number): string {
  const days = hours / 24;
  const [value, unit] = days < 2 ? [hours, 'hour'] : days < 1095 ? [days, 'day'] : [days / 365, 'year'];
  const rounded = Number(value.toPrecision(3));
  return `${rounded.toLocaleString('en')} ${unit}${rounded === 1 ? '' : 's'}`;
}

function evidenceLines({ own, everyone }: ShownWindow): string[] {
  const lines: string[] = [];
  if (own && own.lives > 0) lines.push(evidence(own, ` in ${counted(own.lives, 'memory')}`));
  if (own?.weibull) lines.push(weibullLine(own.weibull));
  if (everyone) lines.push(evidence(everyone, ` of ${counted(everyone.users, 'other user')}, about`));
  return lines;
}

/** An estimate without a single change is the prior’s and the exposure’s alone: not worth a line. */
function evidence(
  { events, exposureHours, estimate }: Pick<Evidence, 'events' | 'exposureHours' | 'estimate'>,
  where: string,
): string {
  const seen = `${counted(Math.round(events), 'change')} of mind${where}, watched for ${span(exposureHours)} in all`;
  if (Math.round(events) === 0 || estimate === null) return seen;
  const { halfLifeHours, lowHours, highHours, usable } = estimate;
  const interval = `half-life ${span(halfLifeHours)}, 90 % between ${span(lowHours)} and ${span(highHours)}`;
  return `${seen}: ${interval}${usable ? '' : ', not sure enough to use'}`;
}

const PLURALS = { change: 'changes', memory: 'memories', 'other user': 'other users' } as const;
const counted = (count: number, what: keyof typeof PLURALS): string =>
  `${count.toLocaleString('en')} ${count === 1 ? what : PLURALS[what]}`;

const weibullLine = ({ shape, pValue, better }: WeibullFit): string => {
  const p = pValue < 0.001 ? 'p < 0.001' : `p = ${pValue.toFixed(3)}`;
  if (better === 'exponential') return `a constant rate fits (Weibull shape ${shape.toFixed(2)}, ${p})`;
  const meaning = shape < 1 ? 'safer than its age says' : 'less safe than its age says';
  return `a Weibull of shape ${shape.toFixed(2)} fits better (${p}): what has lasted is ${meaning}`;
};
