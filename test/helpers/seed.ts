/**
 * The seed of a file's random inputs: another one each run, one for all of a run's properties, and said aloud, so that a
 * failure can be had again by `VERBENA_SEED`.
 */
export function seedOf(name: string): number {
	const { VERBENA_SEED } = process.env
	const seed = VERBENA_SEED === undefined ? Date.now() % 2 ** 31 : Number(VERBENA_SEED)
	console.log(`${name}: VERBENA_SEED=${seed}`)
	return seed
}
