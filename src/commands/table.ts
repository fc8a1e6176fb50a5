import { agingCommand } from './aging.ts';
import { auditCommand } from './audit.ts';
import {
  closeCommand,
  confirmCommand,
  denyCommand,
  feedbackCommand,
  reopenCommand,
  supersedeCommand,
} from './change.ts';
import { CHECKOUT_COMMANDS } from './checkout.ts';
import type { Command } from './command.ts';
import { compareCommand } from './compare.ts';
import { doctorCommand } from './doctor.ts';
import { eraseCommand } from './erase.ts';
import { historyCommand } from './history.ts';
import { listCommand } from './list.ts';
import { mcpCommand } from './mcp.ts';
import { queriesCommand } from './queries.ts';
import { recallCommand } from './recall.ts';
import { rememberCommand } from './remember.ts';
import { reviewCommand } from './review.ts';
import { seedCommand } from './seed.ts';
import { setupCommand } from './setup.ts';
import { exportCommand, importCommand } from './transfer.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  compareCommand,
  seedCommand,
  recallCommand,
  rememberCommand,
  historyCommand,
  listCommand,
  supersedeCommand,
  closeCommand,
  reopenCommand,
  confirmCommand,
  denyCommand,
  feedbackCommand,
  eraseCommand,
  auditCommand,
  reviewCommand,
  agingCommand,
  exportCommand,
  importCommand,
  setupCommand,
  doctorCommand,
  queriesCommand,
  mcpCommand,
  ...CHECKOUT_COMMANDS,
];
