/** `anyOf`: several authenticators as one, for an API that more than one kind of credentials opens. */
import { isRestError, RestError } from '../base/error.ts'
import type { Authenticator, User } from './authenticator.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Asks the authenticators in their order, each once, and answers the user that one of them knows; null when all
 * say that no credentials were sent.
 *
 *     anyOf(new TokenAuthenticator({ tokens }), new TokenAuthenticator({ tokens: keys, header: 'X-Api-Key' }))
 *     401 WWW-Authenticate: Bearer realm="api", ApiKey realm="api", header="X-Api-Key"
 *
 * Every kind is asked, also behind one that knows the user: bad credentials are refused beside good ones, in
 * whatever order. Good ones of two kinds are refused too (400, RFC 6750 §3.1), as nothing says which user it is.
 * A 401 has the challenges of all.
 *
 * @throws TypeError for less than two authenticators, for one named twice, and for what is none
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
				const answer = await askOne(one, request, (headers) => merged(challenges.with(at, headers)))
				if (answer === null) continue
				user = answer
				kinds++
			}
			if (kinds > 1)
				throw new RestError('bad_request', 'Credentials of more than one kind were sent: send one')
			// What is no user at all (undefined for an unknown key) is passed on, and refused where all answers are.
			return user
		},
	}
}

/** Asks one; its 401 is told with the challenges of the others too, as any of them would do. */
async function askOne(
	authenticator: Authenticator,
	request: Parameters<Authenticator['authenticate']>[0],
	beside: (headers: Headers) => Headers,
): Promise<User | null> {
	try {
		return await authenticator.authenticate(request)
	} catch (error) {
		if (!isRestError(error) || error.status !== 401) throw error
		const { message, details, cause } = error
		const headers = beside(overridden(challengeOf(authenticator), error.headers))
		// The cause is the reason, for the log.
		throw new RestError('unauthorized', message, { details, headers, cause })
	}
}

/** One that has none is Bearer's, as it is where it stands alone. */
function challengeOf({ challenge }: Authenticator): Headers {
	return challenge ?? { 'WWW-Authenticate': 'Bearer' }
}

/** Headers with others over them, whatever the case of their names. */
function overridden(under: Headers, over: Headers): Headers {
	const names = new Set(Object.keys(over).map((name) => name.toLowerCase()))
	const kept = Object.entries(under).filter(([name]) => !names.has(name.toLowerCase()))
	return { ...Object.fromEntries(kept), ...over }
}

/**
 * All headers; of those with one name the different values, in a list: so WWW-Authenticate holds several
 * challenges (RFC 9110 §11.6.1), and Accept-Signature several members (RFC 9421 §5.1).
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
		if (!isAuthenticator(one)) throw new TypeError(`${place} must have a method authenticate`)
		if (authenticators.indexOf(one) !== at) throw new TypeError(`${place} was named before`)
		checkChallenge(place, one.challenge)
	}
}

function isAuthenticator(value: unknown): value is { authenticate: unknown; challenge?: unknown } {
	if (typeof value !== 'object' || value === null) return false
	return 'authenticate' in value && typeof value.authenticate === 'function'
}

/** Whether it can be sent is checked where the whole is declared; but joined, what is no text would pass for some. */
function checkChallenge(place: string, challenge: unknown): void {
	if (challenge === undefined) return
	const isObject = typeof challenge === 'object' && challenge !== null
	if (isObject && Object.values(challenge).every((value) => typeof value === 'string')) return
	throw new TypeError(`the challenge of ${place} must be { 'WWW-Authenticate': '…' }, all its values text`)
}
