import type { Interval } from './bootstrap.ts';
import type { Gate } from './gates.ts';
import { type Comparison, type LearnedResult, METHODS } from './learned.ts';
import { table } from './markdown.ts';
import { PACES } from './population.ts';

/** What is told of learned windows, and what must hold of them. */

/** A tenth of the table's half-life and more: below, the prior still counts for much at 50 changes. */
const LEAST_DAYS = 7;

export function learnedGates({ recoveries, asked, askedWithTopic }: LearnedResult): Gate[] {
  const gate = (name: string, value: number, least: number): Gate => ({ name, value, least, holds: value >= least });
  const worst = Math.max(...recoveries.filter(({ days }) => days >= LEAST_DAYS).map(({ rms }) => rms));
  return [
    gate('learned windows: 1 less the error of a half-life at 50 changes', 1 - worst, 0.8),
    gate('learned windows less one learned window: current@1, lower end', asked.gains['one window, learned'].low, 0),
    gate('the same, asked with the topic', askedWithTopic.gains['one window, learned'].low, 0),
  ];
}

export function learnedTables(result: LearnedResult): string[] {
  const { people, recoveries, sources, globalHalfLifeDays } = result;
  return [
    '### Learned windows: known half-lives recovered',
    'From 50 changes among 100 lives, the rest still open; 2,000 rounds each, under the prior of 60 days.',
    table(
      ['true half-life', 'RMS error', 'median error', 'within 20 %', '90 % interval holds it'],
      recoveries.map(({ days, rms, median, within20, covered }) => [
        `${days} days`,
        ...[rms, median, within20, covered].map(percent),
      ]),
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
