import type { Interval } from './bootstrap.ts';
import type { Gate } from './gates.ts';
import { type Comparison, type LearnedResult, METHODS } from './learned.ts';
import { table } from './markdown.ts';
import { PACES } from './population.ts';

/** What is told of learned windows, and what must hold of them. */

/** Half-lives from here on are to be recovered under every prior of the table. */
const LEAST_DAYS = 7;
const CHANGES = 50;

export function learnedGates({ recoveries, asked, askedWithTopic }: LearnedResult): Gate[] {
  const gate = (name: string, value: number, least: number): Gate => ({ name, value, least, holds: value >= least });
  const enough = recoveries.filter(({ days, events }) => days >= LEAST_DAYS && events === CHANGES);
  const worst = Math.max(...enough.map(({ rms }) => rms));
  const gained = ({ gains }: LearnedResult['asked']) => gains['one window, learned'].low;
  return [
    gate(`learned windows: 1 less the error of a half-life at ${CHANGES} changes`, 1 - worst, 0.8),
    gate('learned windows less one learned window: current@1, lower end', gained(asked), 0.001),
    gate('the same, asked with the topic', gained(askedWithTopic), 0.001),
  ];
}

export function learnedTables(result: LearnedResult): string[] {
  const { people, recoveries, sources, globalHalfLifeDays } = result;
  const priors = [...new Set(recoveries.map(({ priorDays }) => priorDays))];
  const trials = [...new Set(recoveries.map(({ days, events }) => `${days} ${events}`))];
  return [
    '### Learned windows: known half-lives recovered',
    'Root mean square error of the half-life, from the changes named among twice as many lives, the rest still open; 1,000 rounds each, under every prior of the table.',
    table(
      ['true half-life', 'changes', ...priors.map((days) => `prior ${days} days`), '90 % interval holds it'],
      trials.map((trial) => {
        const own = recoveries.filter(({ days, events }) => `${days} ${events}` === trial);
        const covered = own.map((one) => one.covered);
        return [
          `${own[0]?.days} days`,
          `${own[0]?.events}`,
          ...own.map(({ rms }) => percent(rms)),
          `${percent(Math.min(...covered))} to ${percent(Math.max(...covered))}`,
        ];
      }),
    ),
    '### Learned windows: current@1 on made-up people',
    `${people} people, three topics with half-lives of ${Object.values(PACES)
      .map((hours) => hours / 24)
      .join(
        ', ',
      )} days. One window for all learned ${globalHalfLifeDays.toFixed(0)} days. Windows used: ${used(sources)}.`,
    ...compared('Asked over all memories', result.asked),
    ...compared('Asked with the topic', result.askedWithTopic),
  ];
}

function compared(title: string, { questions, currentFirst, byTopic, gains, bestHalfLifeDays }: Comparison): string[] {
  const topics = Object.keys(byTopic);
  return [
    `${title} (${questions.toLocaleString('en')} questions; the best single window of 15 has ${bestHalfLifeDays} days):`,
    table(
      ['windows', 'current@1', 'learned by topic gains', ...topics],
      METHODS.map((method) => [
        method,
        cell(currentFirst[method]),
        method === METHODS[0] ? '' : points(gains[method]),
        ...topics.map((topic) => (byTopic[topic]?.[method].mean ?? 0).toFixed(3)),
      ]),
    ),
  ];
}

const used = (sources: LearnedResult['sources']): string =>
  Object.entries(sources)
    .map(
      ([topic, { own, everyone, table: kept }]) =>
        `\`${topic}\` ${own} own, ${everyone} everyone’s, ${kept} the table’s`,
    )
    .join('; ');

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const cell = ({ mean, low, high }: Interval): string => `${mean.toFixed(3)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
const signed = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
const points = ({ mean, low, high }: Interval): string => `${signed(mean)} [${signed(low)}, ${signed(high)}]`;
