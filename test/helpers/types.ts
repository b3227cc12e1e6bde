/**
 * Tests of types alone, in files named `*.types.ts`: they pass if they compile (`npm run check`), and are never run.
 */

/** One case: `@ts-expect-error` for what must not compile, {@link same} for types that must be identical. */
type Say = (what: string, example: () => unknown) => void

/** A group of cases about one subject. */
export function types(_subject: string, _said: (say: Say) => void): void {}
