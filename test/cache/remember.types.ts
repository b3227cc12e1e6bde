/** `remember`: its return types, and the types it refuses because JSON would change them. */
import type { Cache } from '../../lib/cache/cache.ts'
import { MemoryCache } from '../../lib/cache/memory-cache.ts'
import { remember } from '../../lib/cache/remember.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

types('remember types', (say) => {
	interface Article {
		readonly id: number
		readonly title?: string
		readonly tags: readonly string[]
		readonly more: unknown
	}
	const cache: Cache = new MemoryCache({ max: 1 })
	const asked = {
		article: (load: () => Promise<Article | undefined>) => remember(cache, 'k', 1, load),
		number: () => remember(cache, 'k', 1, () => 5 as number),
		list: (load: () => readonly Article[]) => remember(cache, 'k', 1, load),
		// @ts-expect-error a Date would come back as text
		date: () => remember(cache, 'k', 1, () => new Date(0)),
		// @ts-expect-error so would one inside
		inside: () => remember(cache, 'k', 1, async () => ({ at: [new Date(0)] })),
		// @ts-expect-error a Map would come back empty
		map: () => remember(cache, 'k', 1, () => new Map()),
		// @ts-expect-error a bigint would throw
		bigint: () => remember(cache, 'k', 1, () => 1n),
	}

	say('the result has the type of load', () => {
		same<Same<ReturnType<typeof asked.article>, Promise<Article | undefined>>>()
		same<Same<ReturnType<typeof asked.number>, Promise<number>>>()
		same<Same<ReturnType<typeof asked.list>, Promise<readonly Article[]>>>()
	})
})
