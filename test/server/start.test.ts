import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../elasticsearch-node/ready.ts';
import { temporaryFolder } from '../temporary.ts';
import { spawnServer, startServer } from './server-process.ts';

const NO_TOKENS = { SUPERSEDED_TOKENS: '', SUPERSEDED_ADMIN_TOKENS: '' };

describe('npm start', () => {
  it('runs the built server, passes on a SIGTERM and ends with it', async () => {
    const server = await startServer({ SUPERSEDED_DB: join(temporaryFolder(), 'memories.db') }, 'npm start');
    const { status, body } = await server.send('ann', 'POST', '/v1/chat', { message: 'Hello' });
    expect([status, body.error.code]).toEqual([503, 'CONFIGURATION']);
    expect(`${body.error.message} ${body.error.hint}`).toContain('OPENROUTER_API_KEY');
    const { code, log } = await server.end('SIGTERM');
    expect(code, log).toBe(0);
    await expect(server.fetch('/v1/health')).rejects.toThrow();
  });

  it('refuses to start where others reach it and no token is set, and names what to set', async () => {
    const port = await freePort();
    const db = join(temporaryFolder(), 'memories.db');
    const settings = { ...NO_TOKENS, SUPERSEDED_HOST: '0.0.0.0', PORT: String(port), SUPERSEDED_DB: db };
    const { code, log } = await spawnServer(settings, 'npm start').ended;
    expect(code).toBe(1);
    expect(log).toMatch(/SUPERSEDED_HOST is 0\.0\.0\.0, which others can reach, and SUPERSEDED_TOKENS is empty/);
    expect(log).toContain('Set SUPERSEDED_TOKENS to token:user pairs');
    await expect(fetch(`http://127.0.0.1:${port}/v1/health`)).rejects.toThrow();
    expect(existsSync(db)).toBe(false);
  });
});
