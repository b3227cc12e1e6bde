/** `anyOf`: combines several authenticators into one, for an API that accepts more than one kind of credentials. */
import { isRestError, RestError } from '../base/error.ts'
import { withMethods } from '../base/options.ts'
import type { Request } from '../request/request.ts'
import type { Authenticator, User } from './authenticator.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Combines authenticators: calls them in order and returns the user that one of them identifies, or null if none finds
 * credentials.
 *
 *     anyOf(new TokenAuthenticator({ tokens }), new TokenAuthenticator({ tokens: keys, header: 'X-Api-Key' }))
 *     401 WWW-Authenticate: Bearer realm="api", ApiKey realm="api", header="X-Api-Key"
 *
 * All authenticators are called, even after one has identified the user, so a request with good and bad credentials is
 * refused. So is a request with good credentials of two kinds (400, RFC 6750 §3.1), because its user would be
 * ambiguous. A 401 has the challenges of all authenticators.
 *
 * @throws TypeError for fewer than two authenticators, a repeated one, and values that aren't authenticators
 */
export function anyOf(...authenticators: readonly Authenticator[]): Authenticator {
	checkAll(authenticators)
	const challenges = authenticators.map(challengeOf)
	return {
		challenge: Object.freeze(merged(challenges)),
		comparesBody: authenticators.some(({ comparesBody }) => comparesBody === true),
		async authenticate(request) {
			let user: User | null = null
			let kinds = 0
			for (const [at, one] of authenticators.entries()) {
				const own = await authenticate(one, request, (headers) => merged(challenges.with(at, headers)))
				if (own === null) continue
				user = own
				kinds++
			}
			if (kinds > 1)
				throw new RestError('bad_request', 'Credentials of more than one kind were sent: send one')
			// Not checked here: `Credentials` refuses anything but a user or null.
			return user
		},
	}
}

/** Calls one authenticator, and adds the challenges of the others to its 401. */
async function authenticate(
	authenticator: Authenticator,
	request: Request,
	withOthers: (headers: Headers) => Headers,
): Promise<User | null> {
	try {
		return await authenticator.authenticate(request)
	} catch (error) {
		if (!isRestError(error) || error.status !== 401) throw error
		const { message, details, cause } = error
		const headers = withOthers(overridden(challengeOf(authenticator), error.headers))
		throw new RestError('unauthorized', message, { details, headers, cause })
	}
}

/** The default is the same as without `anyOf`. */
function challengeOf({ challenge }: Authenticator): Headers {
	return challenge ?? { 'WWW-Authenticate': 'Bearer' }
}

/** `{ ...base, ...overrides }` for headers, whose names are case-insensitive. */
function overridden(base: Headers, overrides: Headers): Headers {
	const names = new Set(Object.keys(overrides).map((name) => name.toLowerCase()))
	const kept = Object.entries(base).filter(([name]) => !names.has(name.toLowerCase()))
	return { ...Object.fromEntries(kept), ...overrides }
}

/**
 * Merges headers. Different values of the same name are joined by commas: several challenges in WWW-Authenticate (RFC
 * 9110 §11.6.1), several members in Accept-Signature (RFC 9421 §5.1).
 */
function merged(all: readonly Headers[]): Headers {
	const byName = new Map<string, { readonly name: string; readonly values: Set<string> }>()
	for (const [name, value] of all.flatMap((headers) => Object.entries(headers))) {
		const key = name.toLowerCase()
		const entry = byName.get(key) ?? { name, values: new Set() }
		byName.set(key, entry)
		entry.values.add(value)
	}
	return Object.fromEntries([...byName.values()].map(({ name, values }) => [name, [...values].join(', ')]))
}

function checkAll(authenticators: readonly unknown[]): void {
	if (authenticators.length < 2) throw new TypeError('anyOf() needs at least two authenticators')
	for (const [at, one] of authenticators.entries()) {
		const place = `argument ${at + 1} of anyOf()`
		const { challenge } = withMethods<Authenticator>('authenticate')(place, one)
		if (authenticators.indexOf(one) !== at) throw new TypeError(`${place} repeats an earlier one`)
		checkChallenge(place, challenge)
	}
}

/**
 * Refuses values that aren't strings, because joining would turn them into text. At mount, the text is checked as a
 * header.
 */
function checkChallenge(place: string, challenge: unknown): void {
	if (challenge === undefined) return
	const isObject = typeof challenge === 'object' && challenge !== null
	if (isObject && Object.values(challenge).every((value) => typeof value === 'string')) return
	throw new TypeError(`the challenge of ${place} must be { 'WWW-Authenticate': '…' }, with text as values`)
}
