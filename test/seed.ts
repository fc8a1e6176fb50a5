import fc from 'fast-check';
import { silenceTelemetry } from '../src/config.ts';

silenceTelemetry();

/** Properties draw the same cases on every machine, so that a failure is the change's; FC_SEED draws others. */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 20_260_301) });
