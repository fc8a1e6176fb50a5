/** Words by a small number each, so that columns of few different words take little room. */
export class Dictionary {
  readonly words: string[] = [];
  readonly #codes = new Map<string, number>();

  code(word: string): number {
    const known = this.#codes.get(word);
    if (known !== undefined) return known;
    this.#codes.set(word, this.words.length);
    return this.words.push(word) - 1;
  }
}
