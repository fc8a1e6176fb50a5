#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout runs its sources; the package ships them compiled.
const source = new URL('../src/cli.ts', import.meta.url);
if (existsSync(source)) {
  const { register } = await import('tsx/esm/api');
  register();
  await import(source.href);
} else {
  await import('../dist/cli.js');
}
