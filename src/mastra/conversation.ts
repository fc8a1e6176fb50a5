import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InMemoryDB, MastraCompositeStore, ObservabilityInMemory } from '@mastra/core/storage';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import type { Config, ElasticsearchConfig } from '../config.ts';
import { WORKING_MEMORY_TEMPLATE } from '../prompts.ts';

/**
 * The conversation layer, by the framework: threads, message history and a scratch pad for the task at hand.
 * It is kept apart from the memories, in a file beside theirs.
 */

export function createConversation(storage: MastraCompositeStore): Memory {
  return new Memory({
    storage,
    options: {
      lastMessages: 20,
      workingMemory: { enabled: true, scope: 'thread', template: WORKING_MEMORY_TEMPLATE },
    },
  });
}

/** `memories.db` → `memories.threads.db`. */
export const threadsFile = (db: string): string => `${db.replace(/\.db$/, '')}.threads.db`;

/** Conversations go to Elasticsearch where that is configured and its adapter installed, else to a libSQL file. */
export async function openConversationStorage(
  config: Pick<Config, 'db' | 'elasticsearch'>,
): Promise<MastraCompositeStore> {
  const adapter = config.elasticsearch === null ? null : await elasticsearchStorage(config.elasticsearch);
  if (adapter) return adapter;
  const file = threadsFile(config.db);
  mkdirSync(dirname(file), { recursive: true });
  return new MastraCompositeStore({
    id: 'conversations',
    default: new LibSQLStore({ id: 'conversations-file', url: pathToFileURL(file).href }),
    // Studio asks for feedback on traces, which the libSQL adapter answers with an error in the log.
    domains: { observability: new ObservabilityInMemory({ db: new InMemoryDB() }) },
  });
}

type StoreConstructor = new (options: Record<string, unknown>) => MastraCompositeStore;

/** An optional dependency; the name stands in a variable so that neither compiler nor bundler insists on it. */
const ADAPTER = '@mastra/elasticsearch';

async function elasticsearchStorage(settings: ElasticsearchConfig): Promise<MastraCompositeStore | null> {
  const { url, apiKey, username, password } = settings;
  if (url === null) return note('it takes a URL, and ELASTICSEARCH_CLOUD_ID is set');
  let module: Record<string, unknown>;
  try {
    module = (await import(ADAPTER)) as Record<string, unknown>;
  } catch {
    return note(`${ADAPTER} is not installed; to have them in Elasticsearch: npm install ${ADAPTER}`);
  }
  const Store = module.ElasticSearchStore as StoreConstructor;
  const auth = apiKey !== null ? { apiKey } : username !== null ? { username, password } : null;
  return new Store({ id: 'conversations', url, ...(auth ? { auth } : {}) });
}

function note(why: string): null {
  process.stderr.write(`[superseded] Conversations stay in a local file: ${why}.\n`);
  return null;
}
