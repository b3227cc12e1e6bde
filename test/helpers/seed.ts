/**
 * The seed for the random inputs of a test file: different in each run, and printed, so that `VERBENA_SEED` can reproduce a
 * failure.
 */
export function seedOf(name: string): number {
	const { VERBENA_SEED } = process.env
	const seed = VERBENA_SEED === undefined ? Date.now() % 2 ** 31 : Number(VERBENA_SEED)
	console.log(`${name}: VERBENA_SEED=${seed}`)
	return seed
}
