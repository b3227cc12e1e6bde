/** Security schemes of operations, read from the authenticator's challenge (RFC 9110 §11.6.1). Called by `operation.ts`. */
import type { Authenticator } from '../auth/authenticator.ts'
import type { AccessRule } from '../exchange/action.ts'
import type { Components, Part } from './components.ts'

/** One challenge of a WWW-Authenticate field. */
interface Challenge {
	/** In lower case, because schemes are case-insensitive. */
	readonly scheme: string
	readonly params: ReadonlyMap<string, string>
}

/**
 * The security requirements of an operation, of which one must be met; empty without an authenticator. `{}` is one of
 * them if credentials are optional.
 */
export function securityOf(
	components: Components,
	authenticator: Authenticator | undefined,
	{ user, resources }: AccessRule,
): Part[] {
	if (authenticator === undefined) return []
	const challenge = fieldOf(authenticator.challenge, 'www-authenticate') ?? 'Bearer'
	const named = challengesOf(challenge).filter((one) => nameOf(one) !== '')
	// An empty list would say that no credentials are needed.
	const challenges = named.length === 0 ? challengesOf('Bearer') : named
	const names = challenges.map((one) =>
		components.named('securitySchemes', nameOf(one), schemeOf(one, authenticator)),
	)
	// "For other security scheme types, the array MAY contain a list of role names" (OpenAPI 3.1, §4.8.30).
	const requirements = [...new Set(names)].map((name) => ({ [name]: resources }))
	return user ? requirements : [{}, ...requirements]
}

function fieldOf(headers: Authenticator['challenge'], name: string): string | undefined {
	return Object.entries(headers ?? {}).find(([field]) => field.toLowerCase() === name)?.[1]
}

/** Parses challenges: a scheme, then parameters `name=value`, or a `token68`, which is ignored. */
function challengesOf(field: string): Challenge[] {
	const challenges: { scheme: string; params: Map<string, string> }[] = []
	const parts = /([!#$%&'*+.^`|~\w-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s,"]*))?/g
	for (const [, name = '', value] of field.matchAll(parts)) {
		if (value === undefined) challenges.push({ scheme: name.toLowerCase(), params: new Map() })
		else
			challenges.at(-1)?.params.set(name.toLowerCase(), value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1'))
	}
	return challenges
}

function nameOf({ scheme }: Challenge): string {
	if (scheme === 'apikey') return 'ApiKey'
	const plain = scheme.replace(/[^\w.-]/g, '')
	return plain.charAt(0).toUpperCase() + plain.slice(1)
}

function schemeOf({ scheme, params }: Challenge, authenticator: Authenticator): Part {
	const header = params.get('header')
	if (scheme === 'apikey' && header !== undefined) return { type: 'apiKey', in: 'header', name: header }
	const cookie = params.get('cookie')
	if (cookie !== undefined) return { type: 'apiKey', in: 'cookie', name: cookie }
	if (scheme !== 'signature') return { type: 'http', scheme }
	const wanted = fieldOf(authenticator.challenge, 'accept-signature')
	const what = wanted === undefined ? '' : ` What to sign: \`${wanted}\``
	return {
		// OpenAPI has no type for signatures, which are in two headers and differ by request.
		...{ type: 'apiKey', in: 'header', name: 'Signature' },
		description: `An HTTP Message Signature (RFC 9421), with Signature-Input beside it.${what}`,
	}
}
