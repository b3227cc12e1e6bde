/** The script of `cors.long.ts`'s page, against an API of another origin: each function returns what it could read. */
import { ApiError, CrudClient, etagOf, type Fetch, signRequest } from '../../lib/client/index.ts'

interface Plant {
	readonly id: number
	readonly name: string
}

/** With the cookies that the browser keeps for the API. */
const withCookies: Fetch = (url, init) => fetch(url, { ...init, credentials: 'include' })

function refusalOf(error: unknown): unknown {
	if (!(error instanceof ApiError)) throw error
	return [error.status, error.code, error.message]
}

const trials = {
	async list(api: string) {
		// Without the envelope, `next` and the total are in headers alone.
		const bare = new CrudClient<Plant>('bare', api, { wrap: false })
		const pages = []
		for await (const { data, meta } of bare.pages({ limit: 2, count: true })) {
			pages.push([data.map(({ id }) => id), typeof meta.next, meta.total ?? null])
		}
		return pages
	},

	async create(api: string) {
		const response = await fetch(`${api}/plant`, {
			...{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"name":"Rue"}' },
		})
		return [response.status, response.headers.get('Location'), response.headers.get('ETag')]
	},

	async conflict(api: string) {
		const plants = new CrudClient<Plant>('plant', api)
		const [mine, theirs] = await Promise.all([plants.get(1), plants.get(1)])
		const changed = await plants.update(theirs, { name: 'Mint' })
		const refusal = await plants.update(mine, { name: 'Sage' }).catch(refusalOf)
		const same = await plants.get(changed)
		return [etagOf(mine), etagOf(changed), refusal, same === changed]
	},

	async limit(api: string) {
		const limited = new CrudClient<Plant>('limited', api, { retries: 0 })
		await limited.get(1)
		try {
			await limited.get(1)
			return 'let through'
		} catch (error) {
			const { status, retryAfterSeconds = 0, response } = error as ApiError
			return [status, retryAfterSeconds > 0, response?.headers.get('RateLimit-Policy')]
		}
	},

	async override(api: string) {
		const plants = new CrudClient<Plant>('plant', api, { methodOverride: true })
		const { name } = await plants.update(2, { name: 'Basil' })
		await plants.delete(3)
		return [name, await plants.get(3).catch(refusalOf)]
	},

	async credentials(api: string) {
		const notes = new CrudClient<Plant>('private', api, { fetch: withCookies })
		const before = await notes.get(1).catch(refusalOf)
		await withCookies(`${api}/session`, { method: 'POST', headers: new Headers() })
		const { name } = await notes.get(1)
		const without = await new CrudClient<Plant>('private', api).get(1).catch(refusalOf)
		return [before, name, without]
	},

	async signed(api: string) {
		const sign = (request: Request) => signRequest(request, { id: 'page', secret: 's'.repeat(44) })
		const { name } = await new CrudClient<Plant>('signed', api, { sign }).create({ name: 'Dill' })
		return name
	},

	async nowhere(api: string) {
		const old = new CrudClient<Plant>('plant', `${api}/v9`)
		return [await old.get(1).catch(refusalOf), await old.update(1, { name: 'Leek' }).catch(refusalOf)]
	},

	async ended(api: string) {
		const { headers } = await fetch(`${api}/old`)
		return ['Deprecation', 'Sunset', 'Link', 'X-Own', 'X-Other', 'X-Request-Id'].map((name) => {
			return headers.get(name)
		})
	},

	/** What can't be read: the reason is in the browser's own words. */
	async refused(api: string) {
		const plants = new CrudClient<Plant>('plant', api, { retries: 0 })
		const codes = []
		for (const work of [() => plants.get(1), () => plants.create({ name: 'Weed' })])
			codes.push(await work().then(String, (error: ApiError) => [error.status, error.code]))
		return codes
	},
}

export type Trial = keyof typeof trials

Object.assign(globalThis, { trial: (name: Trial, api: string) => trials[name](api) })
