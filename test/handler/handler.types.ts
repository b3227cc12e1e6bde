/** The types of `this` in a method; mistakes don't compile. */
import * as z from 'zod'
import { type CustomReply, type Refused, RestHandler, reply, type User } from '../../lib/index.ts'
import { type Same, same } from '../helpers/same.ts'
import { types } from '../helpers/types.ts'

types('types: in a method', (say) => {
	/** Only for the compiler. */
	class Looks extends RestHandler {
		post_rules() {
			const params = this.getParams({
				title: ['required', 'string'],
				email: ['required', 'email', { max: 100 }],
				age: ['integer', { min: 0 }],
				on: ['boolean', { default: true }],
				kind: [{ in: ['a', 'b'] }],
				tags: [{ of: ['string'] }],
				any: true,
				maybe: false,
				when: z.coerce.date(),
			})
			same<
				Same<
					typeof params,
					{
						title: string
						email: string
						on: boolean
						any: unknown
						when: Date
						age?: number | undefined
						kind?: 'a' | 'b' | undefined
						tags?: string[] | undefined
						maybe?: unknown
					}
				>
			>()
			return params
		}
		get_query() {
			const { limit } = this.getParams({ limit: ['required', 'integer'] }, this.query)
			same<Same<typeof limit, number>>()
		}
		post_names() {
			const params = this.getParams(['a', 'b'])
			same<Same<typeof params, { a?: unknown; b?: unknown }>>()
		}
		post_schema() {
			const params = this.getParams(z.object({ a: z.string() }))
			same<Same<typeof params, { a: string }>>()
		}
		post_declared() {
			const params = this.getParams()
			same<Same<typeof params, Record<string, unknown>>>()
		}
		async post_async() {
			const params = await this.getParamsAsync({ a: ['required', 'string'] })
			same<Same<typeof params, { a: string }>>()
		}
		get_error(id: string) {
			const error = this.error('No such article', 404)
			same<Same<typeof error, Refused>>()
			return id === '' ? error : { id }
		}
		get_reply() {
			return reply({ id: 5 }, { status: 201, headers: { 'Set-Cookie': ['a', 'b'], Age: 5 }, meta: { a: 1 } })
		}
		async get_user() {
			const user = await this.requireAuth()
			same<Same<typeof user, User>>()
			same<Same<typeof this.user, User | null>>()
			const { id } = user
			same<Same<typeof id, string>>()
		}
		get_others() {
			same<Same<typeof this.query, Readonly<Record<string, string>>>>()
			same<Same<typeof this.body, unknown>>()
			same<Same<typeof this.post, Readonly<Record<string, unknown>>>>()
			same<Same<typeof this.files, Readonly<Record<string, readonly File[]>>>>()
			const [text, decoded] = [this.getPutData(), this.getPutData(true)]
			same<Same<typeof text, string>>()
			same<Same<typeof decoded, unknown>>()
		}
		post_wrong() {
			// @ts-expect-error a misspelt rule
			this.getParams({ title: ['requierd'] })
			// @ts-expect-error a misspelt constraint
			this.getParams({ title: ['string', { mx: 5 }] })
			// @ts-expect-error a constraint of the wrong kind
			this.getParams({ title: ['string', { max: '5' }] })
			// @ts-expect-error rules are a list
			this.getParams({ title: 'string' })
			// @ts-expect-error names are text
			this.getParams([5])
			// @ts-expect-error what a method reads can't be set
			this.query = {}
			// @ts-expect-error a status is a number
			this.status('201')
			// @ts-expect-error a header is text, a number, or a list of text
			this.header('A', true)
		}
	}

	say("calls have the methods' return types", () => {
		same<Same<ReturnType<Looks['get_error']>, Refused | { id: string }>>()
		same<Same<ReturnType<Looks['get_reply']>, CustomReply<{ id: number }>>>()
	})

	say("Refused can be excluded from a client's types", () => {
		type Told = Exclude<ReturnType<Looks['get_error']>, Refused>
		same<Same<Told, { id: string }>>()
	})

	say('no value is assignable to Refused', () => {
		// @ts-expect-error only this.error() makes one
		const refused: Refused = null
		return refused
	})
})
