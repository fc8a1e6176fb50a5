/** Memory files that people keep by hand. */

/** The bullets of a Markdown or plain-text list, one memory each; lines indented below a bullet belong to it. */
export function bulletsOf(text: string): string[] {
  const bullets: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const bullet = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*\S)\s*$/.exec(line)?.[1];
    if (bullet) bullets.push(bullet);
    else if (/^\s+\S/.test(line) && bullets.length > 0) bullets.push(`${bullets.pop()} ${line.trim()}`);
  }
  return bullets;
}
