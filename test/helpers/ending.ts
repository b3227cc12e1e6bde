/**
 * Loaded into the processes of `run.ts`: a word of it ends one whose tests are over, and which something holds open that
 * one of them has left. Not by a signal, which would leave coverage unwritten.
 */
process.once('message', () => process.exit())
process.channel?.unref()
