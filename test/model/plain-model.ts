/**
 * What memories mean, in plain lists and without a database: every memory keeps what was said of it and when.
 * Written from the contract, apart from the product's code, so that the two can disagree.
 */

export interface PlainMemory {
  id: string;
  recorded: number;
  from: number;
  planned: number;
  ended: { known: number; to: number; as: 'superseded' | 'retired' | 'denied'; by: string | null } | null;
  replaces: string[];
  copyOf: string | null;
  copiedAs: string | null;
  denies: string[];
  deniedBy: string | null;
  confidence: number;
  outcomes: number[];
  fresh: number;
  /** Instants of confirmations, denials and copies: the service's clock never lies before them. */
  touched: number[];
}

export type Outcome = { ok: true } | { ok: false; code: string };

const ok: Outcome = { ok: true };
const fail = (code: string): Outcome => ({ ok: false, code });
const NEVER = Number.POSITIVE_INFINITY;

export class PlainModel {
  readonly memories = new Map<string, PlainMemory>();
  readonly erased = new Set<string>();

  private at(clock: number, rows: PlainMemory[]): number {
    return Math.max(
      clock,
      ...rows.flatMap((row) => [row.recorded, ...(row.ended ? [row.ended.known] : []), ...row.touched]),
    );
  }

  private find(id: string): PlainMemory | Outcome {
    if (this.erased.has(id)) return fail('ERASED');
    return this.memories.get(id) ?? fail('NOT_FOUND');
  }

  remember(
    clock: number,
    id: string,
    input: { from?: number; to?: number; supersedes?: string[]; denies?: string[] },
  ): Outcome {
    const { supersedes = [], denies = [] } = input;
    if (supersedes.some((target) => denies.includes(target)) || [...supersedes, ...denies].includes(id))
      return fail('INVALID_INPUT');
    if (input.from !== undefined && input.to !== undefined && input.to <= input.from) return fail('INVALID_INPUT');
    if (this.erased.has(id)) return fail('CONFLICT');
    const named = [...supersedes, ...denies];
    if (named.some((target) => !this.memories.has(target))) return fail('NOT_FOUND');
    const olds = named.map((target) => this.memories.get(target) as PlainMemory);
    if (olds.some((old) => old.ended)) return fail('CONFLICT');
    const replaced = olds.slice(0, supersedes.length);
    const recorded = this.at(clock, olds);
    const from = input.from ?? Math.max(recorded, ...replaced.map((old) => old.from));
    if (input.to !== undefined && input.to <= from) return fail('INVALID_INPUT');
    if (replaced.some((old) => old.from > from)) return fail('INVALID_INPUT');
    for (const old of replaced)
      old.ended = { known: recorded, to: Math.min(old.planned, from), as: 'superseded', by: id };
    for (const old of olds.slice(supersedes.length)) {
      old.confidence = Math.min(old.confidence, 0.3);
      old.deniedBy = id;
      old.touched.push(recorded);
    }
    const confidence = denies.length > 0 ? 0.5 : 1;
    this.memories.set(id, {
      id,
      recorded,
      from,
      planned: input.to ?? NEVER,
      ended: null,
      replaces: [...supersedes].sort(),
      copyOf: null,
      copiedAs: null,
      denies,
      deniedBy: null,
      confidence,
      outcomes: [],
      fresh: from,
      touched: [],
    });
    return ok;
  }

  supersede(clock: number, id: string, targets: string[]): Outcome {
    if (targets.includes(id)) return fail('INVALID_INPUT');
    const successor = this.find(id);
    if ('ok' in successor) return successor;
    if (targets.some((target) => !this.memories.has(target))) return fail('NOT_FOUND');
    const olds = targets.map((target) => this.memories.get(target) as PlainMemory);
    for (let next = successor.ended?.by ?? null; next; next = this.memories.get(next)?.ended?.by ?? null) {
      if (targets.includes(next)) return fail('CONFLICT');
    }
    if ([successor, ...olds].some((row) => row.ended)) return fail('CONFLICT');
    if (olds.some((old) => old.from > successor.from || old.recorded > successor.recorded))
      return fail('INVALID_INPUT');
    const known = this.at(clock, [successor, ...olds]);
    for (const old of olds) old.ended = { known, to: Math.min(old.planned, successor.from), as: 'superseded', by: id };
    successor.replaces = [...new Set([...successor.replaces, ...targets])].sort();
    successor.touched.push(known);
    return ok;
  }

  close(clock: number, id: string, to?: number): Outcome {
    const row = this.find(id);
    if ('ok' in row) return row;
    if (row.ended) return fail('CONFLICT');
    const known = this.at(clock, [row]);
    const upcoming = row.from > known;
    if (to !== undefined && to < row.from && !upcoming) return fail('INVALID_INPUT');
    row.ended = { known, to: upcoming ? row.from : Math.min(row.planned, to ?? known), as: 'retired', by: null };
    return ok;
  }

  reopen(clock: number, id: string, copy: string): Outcome {
    const row = this.find(id);
    if ('ok' in row) return row;
    if (!row.ended || row.copiedAs) return fail('CONFLICT');
    const recorded = this.at(clock, [row]);
    row.copiedAs = copy;
    row.touched.push(recorded);
    this.memories.set(copy, {
      ...row,
      id: copy,
      recorded,
      from: row.ended.to,
      ended: null,
      replaces: [],
      copyOf: id,
      copiedAs: null,
      denies: [],
      deniedBy: null,
      outcomes: [...row.outcomes],
      touched: [...row.touched.filter((at) => at !== recorded)],
    });
    return ok;
  }

  confirm(clock: number, id: string): Outcome {
    const row = this.find(id);
    if ('ok' in row) return row;
    if (row.ended) return fail('CONFLICT');
    const denied = row.denies.flatMap((target) => this.memories.get(target) ?? []).filter((old) => !old.ended);
    const at = this.at(clock, [row, ...denied]);
    row.confidence = 1;
    row.deniedBy = null;
    row.fresh = Math.max(row.fresh, at);
    row.touched.push(at);
    for (const old of denied) old.ended = { known: at, to: old.from, as: 'denied', by: null };
    return ok;
  }

  deny(clock: number, id: string, certain: boolean): Outcome {
    const row = this.find(id);
    if ('ok' in row) return row;
    if (row.ended) return fail('CONFLICT');
    const at = this.at(clock, [row]);
    if (certain) row.ended = { known: at, to: row.from, as: 'denied', by: null };
    else {
      row.confidence = Math.min(row.confidence, 0.3);
      row.touched.push(at);
    }
    return ok;
  }

  feedback(clock: number, id: string, outcome: number): Outcome {
    const row = this.find(id);
    if ('ok' in row) return row;
    if (row.ended) return fail('CONFLICT');
    row.outcomes.push(outcome);
    const at = this.at(clock, [row]);
    if (outcome > 0) row.fresh = Math.max(row.fresh, at);
    row.touched.push(at);
    return ok;
  }

  erase(clock: number, id: string): Outcome {
    if (this.erased.has(id)) return ok;
    const row = this.memories.get(id);
    if (!row) return fail('NOT_FOUND');
    const gone = new Set([id]);
    for (let grown = true; grown; ) {
      const before = gone.size;
      for (const row of this.memories.values()) {
        if ((row.copyOf && gone.has(row.copyOf)) || (row.copiedAs && gone.has(row.copiedAs))) gone.add(row.id);
      }
      grown = gone.size > before;
    }
    for (const other of gone) {
      this.memories.delete(other);
      this.erased.add(other);
    }
    const named = (row: PlainMemory) => [...row.replaces, ...row.denies, row.ended?.by ?? '', row.deniedBy ?? ''];
    const neighbours = [...this.memories.values()].filter((other) => named(other).some((name) => gone.has(name)));
    const at = this.at(clock, [row, ...neighbours]);
    for (const row of neighbours) {
      row.touched.push(at);
      row.replaces = row.replaces.filter((target) => !gone.has(target));
      row.denies = row.denies.filter((target) => !gone.has(target));
      if (row.deniedBy && gone.has(row.deniedBy)) row.deniedBy = null;
      if (row.ended?.by && gone.has(row.ended.by)) row.ended.by = null;
    }
    return ok;
  }

  /** When a memory stopped being true, as known then. */
  private endOf(row: PlainMemory, knownAt: number): number {
    return row.ended && row.ended.known <= knownAt ? Math.min(row.planned, row.ended.to) : row.planned;
  }

  /** Ids true at one instant as known at another. */
  held(asOf: number, knownAt: number): string[] {
    const rows = [...this.memories.values()].filter((row) => row.recorded <= knownAt);
    return rows
      .filter((row) => row.from <= asOf && asOf < this.endOf(row, knownAt))
      .map(({ id }) => id)
      .sort();
  }

  statuses(asOf: number, knownAt: number): Record<string, string> {
    const rows = [...this.memories.values()].filter((row) => row.recorded <= knownAt);
    return Object.fromEntries(
      rows.map((row): [string, string] => {
        const ended = row.ended && row.ended.known <= knownAt ? row.ended : null;
        if (ended && (ended.to <= asOf || ended.to <= row.from)) return [row.id, ended.as];
        if (row.planned <= asOf) return [row.id, 'expired'];
        return [row.id, row.from > asOf ? 'upcoming' : 'open'];
      }),
    );
  }
}
