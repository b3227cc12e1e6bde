/** Methods of every kind beside records: values, forms, errors, hooks, versions. */
import { createHash } from 'node:crypto'
import { type Deprecated, RestHandler, remember, reply, type StreamingOptions } from '../../../lib/index.ts'
import type { OpenStreams } from './open-streams.ts'

/** The method that throws. */
export const CRASH = 'get_crash'
/** Part of its error, which no response may contain. */
export const UNTOLD = 'the password of the database is verbena'

/** Values, including remembered ones. */
export class Office extends RestHandler {
	override customRoutes = { 'GET|POST room/%s/desk/%d': 'desk' }

	desk(room: string, desk: number) {
		return { room, desk }
	}

	get_echo(...words: string[]) {
		this.header('X-Words', words.length)
		return { words, query: this.query }
	}

	/** Each load returns a different value, so that a second load can be noticed. */
	get_report(number: string) {
		return remember(this.cache, `report:${number}`, 600, async () => ({ number, made: crypto.randomUUID() }))
	}

	async delete_report(number: string) {
		return { forgotten: await this.cache.delete(`report:${number}`) }
	}

	/** About 20 kB of JSON. */
	get_catalogue(seed: string) {
		return catalogueOf(Number(seed))
	}

	get_crash() {
		throw new Error(UNTOLD)
	}

	get_gone() {
		return this.error('It was here', 'gone')
	}
}

/** Computed by the server and by the load. */
export function catalogueOf(seed: number): object[] {
	return Array.from({ length: 200 }, (_, at) => {
		return {
			id: seed * 1_000 + at,
			name: `Leaf ${(seed * 31 + at * 17) % 997}`,
			note: 'sown in March, cut in June',
		}
	})
}

/** Bodies: JSON, forms, files. */
export class Forms extends RestHandler {
	post_article() {
		const { title, rating } = this.getParams({
			title: ['required', 'string', { min: 1, max: 40 }],
			rating: ['integer', { min: 1, max: 5, default: 3 }],
		})
		return reply({ title, rating }, { status: 201, headers: { Location: '/forms/article/1' } })
	}

	async put_photo() {
		const { caption } = this.getParams({ caption: ['required', 'string', { max: 100 }] })
		const [photo] = this.files.photo ?? []
		if (photo === undefined) return this.error('photo is required', 'invalid')
		const bytes = Buffer.from(await photo.arrayBuffer())
		return {
			caption,
			name: photo.name,
			type: photo.type,
			sha256: createHash('sha256').update(bytes).digest('hex'),
		}
	}
}

/** Streams in both directions. */
export class Streams extends RestHandler {
	override streaming: Record<string, StreamingOptions> = { put_upload: {} }
	private readonly streams: OpenStreams

	constructor(streams: OpenStreams) {
		super()
		this.streams = streams
	}

	/** An array that is generated while it is sent. */
	async *get_numbers(count: string) {
		const end = this.streams.begin()
		try {
			for (let number = 0; number < Number(count); number++) {
				if (number % 50 === 0) await new Promise(setImmediate)
				yield { number, square: number * number }
			}
		} finally {
			end()
		}
	}

	/** It never ends: the client leaves. */
	async *get_feed() {
		const end = this.streams.begin()
		try {
			for (let number = 0; ; number++) {
				await new Promise((resolve) => setTimeout(resolve, 5))
				yield number
			}
		} finally {
			end()
		}
	}

	async put_upload() {
		const end = this.streams.begin()
		try {
			const hash = createHash('sha256')
			let bytes = 0
			for await (const chunk of this.request.stream) {
				hash.update(chunk)
				bytes += chunk.length
			}
			return { bytes, sha256: hash.digest('hex') }
		} finally {
			end()
		}
	}
}

/** Hooks around a method, and the state they share within one request. */
export class Hooked extends RestHandler {
	private tenant?: string | undefined

	override before() {
		this.tenant = this.query.tenant
		return this.tenant === undefined ? this.error('Which tenant?', 400) : undefined
	}

	override after(value: unknown) {
		this.header('X-Tenant', this.tenant ?? '')
		return { value, tenant: this.tenant }
	}

	async get_order(id: string) {
		await new Promise(setImmediate)
		return id
	}
}

export class First extends RestHandler {
	static override deprecated: Deprecated = { since: '2026-01-31', sunset: '2027-12-31', link: '/v2' }

	get_name(id: string): unknown {
		return `name ${id}`
	}
}

export class Second extends First {
	override get_name(id: string) {
		return { name: `name ${id}` }
	}
}
