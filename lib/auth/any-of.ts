/** `anyOf`: several authenticators as one, for an API that takes more than one kind of credentials. */
import { isRestError, RestError } from '../base/error.ts'
import { withMethods } from '../base/options.ts'
import type { Request } from '../request/request.ts'
import type { Authenticator, User } from './authenticator.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Calls the authenticators in order and returns the user that one of them identifies; null if none finds credentials.
 *
 *     anyOf(new TokenAuthenticator({ tokens }), new TokenAuthenticator({ tokens: keys, header: 'X-Api-Key' }))
 *     401 WWW-Authenticate: Bearer realm="api", ApiKey realm="api", header="X-Api-Key"
 *
 * All are called, even after one has identified the user, so that bad credentials are refused beside good ones. Good
 * credentials of two kinds are refused too (400, RFC 6750 §3.1), as the user would be ambiguous. A 401 has all challenges.
 *
 * @throws TypeError for fewer than two authenticators, for a repeated one, and for other values
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
			// `Credentials` refuses anything but a user.
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

/** The default is that of a single authenticator. */
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
 * Merges headers; different values of one name become a list, such as several challenges in WWW-Authenticate
 * (RFC 9110 §11.6.1) and several members in Accept-Signature (RFC 9421 §5.1).
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
	if (authenticators.length < 2) throw new TypeError('anyOf() needs two authenticators or more')
	for (const [at, one] of authenticators.entries()) {
		const place = `argument ${at + 1} of anyOf()`
		const { challenge } = withMethods<Authenticator>('authenticate')(place, one)
		if (authenticators.indexOf(one) !== at) throw new TypeError(`${place} was named before`)
		checkChallenge(place, challenge)
	}
}

/** Joining would turn other values into text. Whether the text is a valid header is checked at mount. */
function checkChallenge(place: string, challenge: unknown): void {
	if (challenge === undefined) return
	const isObject = typeof challenge === 'object' && challenge !== null
	if (isObject && Object.values(challenge).every((value) => typeof value === 'string')) return
	throw new TypeError(`the challenge of ${place} must be { 'WWW-Authenticate': '…' }, all its values text`)
}
