/**
 * Preloaded into the processes that `run.ts` starts. Any message from it ends a process whose tests are over, but which is
 * kept alive by something that a test left open. A signal would end it without writing coverage.
 */
process.once('message', () => process.exit())
process.channel?.unref()
