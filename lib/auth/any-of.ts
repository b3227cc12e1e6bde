/** `anyOf`: several authenticators as one, for an API that takes more than one kind of credentials. */
import { isRestError, RestError } from '../base/error.ts'
import { withMethods } from '../base/options.ts'
import type { Authenticator, User } from './authenticator.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Asks the authenticators in order, each once, and answers the user that one of them identifies; null when none finds
 * credentials.
 *
 *     anyOf(new TokenAuthenticator({ tokens }), new TokenAuthenticator({ tokens: keys, header: 'X-Api-Key' }))
 *     401 WWW-Authenticate: Bearer realm="api", ApiKey realm="api", header="X-Api-Key"
 *
 * All are asked, also after one has identified the user: bad credentials are refused beside good ones, in any order.
 * Good credentials of two kinds are refused too (400, RFC 6750 §3.1), as it is not clear which user it is. A 401 has the
 * challenges of all.
 *
 * @throws TypeError for fewer than two authenticators, for one named twice, and for what is none
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
			// What is no user (undefined for an unknown key) is passed on, and refused where every answer is checked.
			return user
		},
	}
}

/** Asks one; its 401 gets the challenges of the others too. */
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

/** Without one it is Bearer, as for a single authenticator. */
function challengeOf({ challenge }: Authenticator): Headers {
	return challenge ?? { 'WWW-Authenticate': 'Bearer' }
}

/** `under` with `over` in place of headers of the same name, in any case. */
function overridden(under: Headers, over: Headers): Headers {
	const names = new Set(Object.keys(over).map((name) => name.toLowerCase()))
	const kept = Object.entries(under).filter(([name]) => !names.has(name.toLowerCase()))
	return { ...Object.fromEntries(kept), ...over }
}

/**
 * All headers, the different values of one name joined as a list: so WWW-Authenticate holds several
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
		const { challenge } = withMethods<Authenticator>('authenticate')(place, one)
		if (authenticators.indexOf(one) !== at) throw new TypeError(`${place} was named before`)
		checkChallenge(place, challenge)
	}
}

/** Values must be text, as joining would hide what is not. Whether they can be sent is checked where anyOf() is declared. */
function checkChallenge(place: string, challenge: unknown): void {
	if (challenge === undefined) return
	const isObject = typeof challenge === 'object' && challenge !== null
	if (isObject && Object.values(challenge).every((value) => typeof value === 'string')) return
	throw new TypeError(`the challenge of ${place} must be { 'WWW-Authenticate': '…' }, all its values text`)
}
