import colours from 'picocolors';

/** The one printer: colours where a terminal shows them, progress on standard error, aligned columns. */

export interface Printer {
  colour: ReturnType<typeof colours.createColors>;
  /** Rewrites one line on standard error while work goes on; silent where that is no terminal. */
  progress(what: string): (done: number, total: number) => void;
  /** One line on standard error. */
  note(line: string): void;
}

export function createPrinter(colour: boolean, terminal: boolean, stderr: Pick<NodeJS.WriteStream, 'write'>): Printer {
  return {
    colour: colours.createColors(colour),
    progress: (what) => (done, total) => {
      if (!terminal) return;
      const line = `${what} ${done} of ${total}`;
      stderr.write(done >= total ? `\r${' '.repeat(line.length)}\r` : `\r${line}`);
    },
    note: (line) => {
      stderr.write(`${line}\n`);
    },
  };
}

/** Text cut to a width, an ellipsis in place of what is gone. */
export const cut = (text: string, width: number): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= width
    ? line
    : `${characters
        .slice(0, width - 1)
        .join('')
        .trimEnd()}…`;
};

/** Text broken at spaces into lines of at most `width`. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}
