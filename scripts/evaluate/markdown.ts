/** A Markdown table with aligned columns, as the formatter writes it. */
export function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const rows = [head, ...lines].map((cells) => cells.map((one) => one.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...rows.map((cells) => [...(cells[column] ?? '')].length)));
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((one, at) => padded(one, widths[at] ?? 0)).join(' | ')} |`;
  const [first = [], ...rest] = rows;
  return [row(first), row(widths.map((width) => '-'.repeat(width))), ...rest.map(row)].join('\n');
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - [...text].length));
