/**
 * Tests of types alone, in files named `*.types.ts`: they hold where they compile, which `npm run check` looks at, and
 * nothing in them is ever run.
 */

/** What is said of one thing: `@ts-expect-error` where it must not compile, {@link same} where a type is another's equal. */
type Say = (what: string, example: () => unknown) => void

/** The types of a subject. */
export function types(_subject: string, _said: (say: Say) => void): void {}
