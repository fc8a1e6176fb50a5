/** Scatter plots as SVG, without a library. */

export interface Point {
  x: number;
  y: number;
  label: string;
}

export interface Series {
  name: string;
  points: Point[];
}

export interface Plot {
  title: string;
  x: string;
  y: string;
  /** Joined by a line in their order. */
  lines: Series[];
  /** Single points, marked and named. */
  marks: Point[];
}

const [WIDTH, HEIGHT] = [760, 480];
const EDGE = { left: 70, right: 190, top: 46, bottom: 56 };
const COLOURS = ['#1b6ca8', '#c2571a', '#3c8d40', '#8a4fa3', '#8c6d1f'];

export function drawPlot({ title, x, y, lines, marks }: Plot): string {
  const all = [...lines.flatMap(({ points }) => points), ...marks];
  const across = scaleOf(
    all.map((point) => point.x),
    EDGE.left,
    WIDTH - EDGE.right,
  );
  const down = scaleOf(
    all.map((point) => point.y),
    HEIGHT - EDGE.bottom,
    EDGE.top,
  );
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(EDGE.left, 22, title, 'font-size="14" font-weight="bold"'),
    ...across.ticks.map((tick) => grid(across.of(tick), EDGE.top, across.of(tick), HEIGHT - EDGE.bottom)),
    ...down.ticks.map((tick) => grid(EDGE.left, down.of(tick), WIDTH - EDGE.right, down.of(tick))),
    ...across.ticks.map((tick) =>
      text(across.of(tick), HEIGHT - EDGE.bottom + 18, tick.toFixed(2), 'text-anchor="middle"'),
    ),
    ...down.ticks.map((tick) => text(EDGE.left - 8, down.of(tick) + 4, tick.toFixed(2), 'text-anchor="end"')),
    text((EDGE.left + WIDTH - EDGE.right) / 2, HEIGHT - 14, x, 'text-anchor="middle"'),
    text(18, HEIGHT / 2, y, `text-anchor="middle" transform="rotate(-90 18 ${HEIGHT / 2})"`),
    ...lines.flatMap(({ name, points }, index) => {
      const colour = COLOURS[index % COLOURS.length] ?? 'black';
      const path = points.map((point) => `${round(across.of(point.x))},${round(down.of(point.y))}`).join(' ');
      return [
        `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
        ...points.map((point) => circle(across.of(point.x), down.of(point.y), colour, `${name}, ${point.label}`)),
        circle(WIDTH - EDGE.right + 16, EDGE.top + 10 + 20 * index, colour, name),
        text(WIDTH - EDGE.right + 26, EDGE.top + 14 + 20 * index, name, ''),
      ];
    }),
    ...marks.flatMap((point) => [
      `<path d="M${round(across.of(point.x))} ${round(down.of(point.y) - 7)} l6 12 h-12 z" fill="black"/>`,
      text(across.of(point.x) - 9, down.of(point.y) + 4, point.label, 'text-anchor="end" font-weight="bold"'),
    ]),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}

interface Scale {
  of(value: number): number;
  ticks: number[];
}

function scaleOf(values: readonly number[], from: number, to: number): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((size) => (most - least) / size <= 8) ?? 0.5;
  const [low, high] = [Math.floor(least / step) * step, Math.ceil(most / step + 0.001) * step];
  const count = Math.round((high - low) / step);
  return {
    of: (value) => from + ((value - low) / (high - low)) * (to - from),
    ticks: Array.from({ length: count + 1 }, (_, index) => low + index * step),
  };
}

const round = (value: number): string => value.toFixed(1);
const escaped = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const grid = (x1: number, y1: number, x2: number, y2: number): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="#dddddd"/>`;
const text = (x: number, y: number, value: string, attributes: string): string =>
  `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(value)}</text>`;
const circle = (x: number, y: number, colour: string, title: string): string =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="4" fill="${colour}"><title>${escaped(title)}</title></circle>`;
