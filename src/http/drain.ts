/**
 * Ends the service without cutting anyone off. Mastra's server handles SIGTERM: it stops accepting, waits for open
 * requests (`server.drainTimeout`), then calls `mastra.shutdown()` and exits. This adds what it cannot know: answers
 * ask clients to leave as soon as the signal came, and the store closes last, when nothing runs any more.
 */

/** Time for running requests once HTTP has been drained, in milliseconds. */
const LAST_WAIT_MS = 3000;

export interface Drain {
  /** True once the process was asked to end. */
  readonly ending: boolean;
  /** Counts a running request until the returned function is called. */
  enter(): () => void;
  begin(): void;
  /** Waits for running requests, then closes; safe to call twice. */
  close(): Promise<void>;
}

export function createDrain(close: () => Promise<void>, lastWaitMs = LAST_WAIT_MS): Drain {
  let ending = false;
  let running = 0;
  let idle: (() => void) | null = null;
  let closing: Promise<void> | null = null;

  async function finish(): Promise<void> {
    ending = true;
    if (running > 0) {
      const timer = setTimeout(() => idle?.(), lastWaitMs);
      await new Promise<void>((resolve) => {
        idle = resolve;
      });
      clearTimeout(timer);
    }
    await close();
  }

  return {
    get ending() {
      return ending;
    },
    enter() {
      running++;
      let left = false;
      return () => {
        if (left) return;
        left = true;
        running--;
        if (running === 0) idle?.();
      };
    },
    begin() {
      ending = true;
    },
    close() {
      closing ??= finish();
      return closing;
    },
  };
}

/** Closes after Mastra's own shutdown, the last thing its server does before the process ends. */
export function closeWith(
  mastra: { shutdown(options?: { drainTimeout?: number }): Promise<void> },
  drain: Drain,
): void {
  const shutdown = mastra.shutdown.bind(mastra);
  mastra.shutdown = async (options) => {
    try {
      await shutdown(options);
    } finally {
      await drain.close();
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      drain.begin();
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  }
}
