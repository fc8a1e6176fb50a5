/** The package's core entry, `superseded`: the memory as a library, with no agent framework. */

export { PRESETS, type Preset } from './aging.ts';
export { type Config, type Environment, readConfig } from './config.ts';
export type { Embedder, EmbeddingModel } from './embedder.ts';
export { type ErrorCode, SupersededError } from './errors.ts';
export type { Evidence, LearnFrom, WindowPolicy } from './learned-windows.ts';
export type { Kind, Memory, Status } from './memory.ts';
export { type OpenOptions, openSuperseded } from './open.ts';
export type { Hit, Recalled } from './recall.ts';
export type { Similar } from './similar.ts';
export { createSuperseded, type RememberAnswer, type Superseded, type UserMemories } from './superseded.ts';
export type { ShownWindow, ShownWindows } from './windows.ts';
