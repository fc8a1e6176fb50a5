import { setTimeout as sleep } from 'node:timers/promises';
import { type Ended, requestOf, type ServerProcess } from './server-process.ts';

/** Writers, talkers and readers that go on until the server no longer answers; in the middle it is asked to end. */

const WRITERS = 16;
const TALKERS = 4;
const READERS = 4;
/** The signal comes after so many acknowledged writes. */
const ENOUGH = 60;
const ENOUGH_MS = 120_000;

export interface Load {
  /** Content by id, of every write that was answered with success. */
  acknowledged: Map<string, string>;
  /** How many of them were answered after the signal. */
  afterSignal: number;
  /** Answers that are neither success nor a closed connection. */
  unexpected: string[];
  ended: Ended;
}

export async function loadUntilGone(server: ServerProcess): Promise<Load> {
  const acknowledged = new Map<string, string>();
  const unexpected: string[] = [];
  let signalled = false;
  let afterSignal = 0;
  const acknowledge = (id: string, content: string): void => {
    acknowledged.set(id, content);
    if (signalled) afterSignal++;
  };

  /** Repeats until the connection is refused or closed; before the signal that is a fault. */
  const goOn = async (step: (turn: number) => Promise<void>): Promise<void> => {
    for (let turn = 0; ; turn++) {
      try {
        await step(turn);
      } catch (error) {
        if (!signalled) unexpected.push(String(error));
        return;
      }
    }
  };
  const post = async (path: string, body: object, wanted: number) => {
    const response = await server.fetch(path, requestOf('ann', 'POST', body));
    const text = await response.text();
    if (response.status === wanted) return JSON.parse(text);
    unexpected.push(`${path} ${response.status} ${text}`);
    await sleep(100);
    return null;
  };

  const writer = (name: number) =>
    goOn(async (turn) => {
      const id = `writer-${name}-${turn}`;
      const content = `Note ${turn} by writer ${name}.`;
      if (await post('/v1/memories', { id, content }, 201)) acknowledge(id, content);
    });
  const talker = (name: number) =>
    goOn(async (turn) => {
      const message = `I want table ${turn} in room ${name}.`;
      const answer: { steps: { tool: string; output: { memory?: { id: string } } }[] } | null = await post(
        '/v1/chat',
        { message },
        200,
      );
      const written = answer?.steps.find(({ tool }) => tool === 'remember')?.output.memory;
      if (written) acknowledge(written.id, message);
      else if (answer) unexpected.push(`a chat wrote nothing: ${JSON.stringify(answer)}`);
    });
  const reader = (name: number) =>
    goOn(async () => void (await post('/v1/recall', { query: `Which notes did writer ${name} make?` }, 200)));

  const work = [
    ...Array.from({ length: WRITERS }, (_, name) => writer(name)),
    ...Array.from({ length: TALKERS }, (_, name) => talker(name)),
    ...Array.from({ length: READERS }, (_, name) => reader(name)),
  ];
  const deadline = performance.now() + ENOUGH_MS;
  while (acknowledged.size < ENOUGH && performance.now() < deadline) await sleep(20);
  signalled = true;
  const ended = await server.end('SIGTERM');
  await Promise.all(work);
  return { acknowledged, afterSignal, unexpected, ended };
}
