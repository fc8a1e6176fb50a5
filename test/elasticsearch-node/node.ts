import { mavenAnswers } from './build.ts';
import { dockerAnswers, startWithDocker } from './docker.ts';
import { startFromJars } from './jars.ts';
import { findJdk, OLDEST_JAVA } from './jdk.ts';

export interface NodeOptions {
  /** Maximum heap, as after -Xmx. Ignored on an external cluster. */
  readonly heap?: string;
  /** Node settings beside the defaults. Ignored on an external cluster. */
  readonly settings?: Readonly<Record<string, string>>;
}

export type NodeAuth = { apiKey: string } | { username: string; password: string };

export interface TestNode {
  readonly url: string;
  /** `jars` has no ES|QL engine and no semantic_text; the other two are whole. */
  readonly kind: 'external' | 'jars' | 'docker';
  /** Only an external cluster asks for it. */
  readonly auth?: NodeAuth;
  /** Ends the node and removes its data; an external cluster is left as it is. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would end it; `restart` brings it back with the same data. */
  kill(): void;
  /** Same data, same port; a running node is stopped in order first. */
  restart(): Promise<void>;
}

/** A real Elasticsearch: the one named in the environment, else one started here, else the reason why there is none. */
export async function startNode(options: NodeOptions = {}): Promise<TestNode | { skipped: string }> {
  const url = process.env.ELASTICSEARCH_TEST_URL;
  if (url) return external(url);
  const jdk = await findJdk();
  const maven = await mavenAnswers();
  if (jdk !== undefined && maven) return startFromJars(jdk, options);
  if (await dockerAnswers()) return startWithDocker(options);
  const missing = [
    'ELASTICSEARCH_TEST_URL is not set',
    ...(jdk === undefined ? [`no JDK ${OLDEST_JAVA} or newer was found`] : []),
    ...(maven ? [] : ['mvn is not on the PATH']),
    'Docker does not answer',
  ];
  return { skipped: `no Elasticsearch to test against: ${missing.join(', ')}` };
}

function external(url: string): TestNode {
  const auth = externalAuth();
  const refuse = (verb: string) => new Error(`${url} is not ours to ${verb}: skip this test when kind is external`);
  return {
    url,
    kind: 'external',
    ...(auth && { auth }),
    stop: async () => {},
    kill: () => {
      throw refuse('kill');
    },
    restart: async () => {
      throw refuse('restart');
    },
  };
}

function externalAuth(): NodeAuth | undefined {
  const {
    ELASTICSEARCH_TEST_API_KEY: apiKey,
    ELASTICSEARCH_TEST_USERNAME: username,
    ELASTICSEARCH_TEST_PASSWORD: password,
  } = process.env;
  if (apiKey) return { apiKey };
  return username && password ? { username, password } : undefined;
}
