/** JSON schemas for Fastify: of requests, and of responses with articles, their author and comments. */
const integer = { type: 'integer' }
const string = { type: 'string' }
const time = { type: 'string', format: 'date-time' }

const AUTHOR = object({ id: integer, name: string, city: { type: ['string', 'null'] }, joined: time })
const COMMENT = object({
	id: integer,
	article_id: integer,
	writer: string,
	body: string,
	likes: integer,
	created: time,
})
const ARTICLE = object({
	id: integer,
	author_id: integer,
	title: string,
	summary: string,
	status: string,
	views: integer,
	created: time,
	author: AUTHOR,
	comments: { type: 'array', items: COMMENT },
})

export const PARAMS = object({ id: { type: 'integer', minimum: -2147483648, maximum: 2147483647 } })

/** The peers serve only these requests, so they ignore the value of `include`. */
export const QUERY = {
	type: 'object',
	additionalProperties: false,
	properties: {
		limit: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
		offset: { type: 'integer', minimum: 0, default: 0 },
		sort: { type: 'string', enum: ['-created', 'author.name'] },
		include: { type: 'string', maxLength: 200 },
		'comments.writer': { type: 'string', maxLength: 80 },
	},
}

export const ONE = enveloped({ data: ARTICLE })
export const MANY = enveloped({
	data: { type: 'array', items: ARTICLE },
	meta: object({ limit: integer, offset: integer, next: { type: ['string', 'null'] } }),
})

function object(properties) {
	return { type: 'object', properties }
}

function enveloped(properties) {
	return { '2xx': object({ success: { type: 'boolean' }, ...properties }) }
}
