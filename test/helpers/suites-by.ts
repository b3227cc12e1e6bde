/**
 * `suitesBy`: the drivers of a database, or session settings, that a whole suite is run with. `npm test` takes only the first.
 * `npm run test:long` runs the same suites with the others (`VERBENA_DRIVERS=others`), and its own with all. What only a driver
 * does is tested with every driver each time, as in `models/postgres/drivers.test.ts`.
 */
export function suitesBy<T>(drivers: readonly T[]): readonly T[] {
	const { VERBENA_DRIVERS: which } = process.env
	if (which === 'all') return drivers
	return which === 'others' ? drivers.slice(1) : drivers.slice(0, 1)
}
