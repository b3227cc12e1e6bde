/** The option `openapi` of `createServer`: title, version, servers and access of the description. */
import {
	listOf,
	nested,
	optional,
	or,
	type Readers,
	refusal,
	switchable,
	text,
	type Values,
} from '../base/options.ts'
import type { Access } from '../exchange/action.ts'
import { accessRule, type Guards } from '../handler/mount/declarations.ts'

/** The license of the API. */
export interface OpenApiLicense {
	/** `'MIT'` */
	readonly name: string
	/** An SPDX identifier, `'MIT'`; or else a `url`. @default none */
	readonly identifier?: string
	/** Where it can be read. @default none */
	readonly url?: string
}

/** The option `openapi`: the metadata of the API's description. */
export interface OpenApiOptions {
	/** @default 'API' */
	readonly title?: string
	/** The version of the API, not of OpenAPI. @default '0' */
	readonly version?: string
	/** May be Markdown. @default none */
	readonly description?: string
	/** The API's license. @default none */
	readonly license?: OpenApiLicense
	/**
	 * Base URLs of the API: `['https://api.example.com/v1', '/shop']`. Each is an http or https URL, or a path, without
	 * `base`, which the described paths contain. Needed behind proxies that remove a part of the path, and for other host
	 * names.
	 *
	 * @default the server of the request: `/`, or the prefix that a router in front has removed
	 */
	readonly servers?: readonly string[]
	/** Who may read the description, as in `access` of a handler. @default 'anyone' */
	readonly access?: Access
}

const SERVERS = "['https://api.example.com/v1', '/shop']"
const optionalText = optional(text)

const license = nested("{ name: 'MIT', url }", {
	name: optionalText,
	identifier: optionalText,
	url: optionalText,
} satisfies Readers<OpenApiLicense>)

const readers = {
	title: or(text, 'API'),
	version: or(text, '0'),
	description: optionalText,
	license: optional(licenseIn),
	servers: optional(listOf(`an array of at least one URL: ${SERVERS}`, serverIn)),
	// `accessRule` checks it.
	access: (_where: string, value: unknown) => (value ?? 'anyone') as Access,
} satisfies Readers<OpenApiOptions>

const read = switchable('{ title, version, description, license, servers, access }', readers)

/** The option, checked, with its defaults. Without `servers`, the description's servers depend on the request. */
export interface OpenApiInfo extends Values<typeof readers> {
	/** The header for request ids that every response has, if any. */
	readonly requestId: string | undefined
}

/**
 * Reads the option `openapi`.
 *
 * @param server its authenticator and ACL, and the header of request ids
 * @throws TypeError for an unknown option, a wrong value, and access that nobody could have
 */
export function openApiInfo(
	where: string,
	option: unknown,
	server: Partial<Guards> & { readonly requestId?: string | undefined } = {},
): OpenApiInfo | undefined {
	const info = read(where, option)
	if (info === undefined) return undefined
	accessRule(`${where}.access`, info.access, server)
	return { ...info, requestId: server.requestId }
}

function licenseIn(where: string, value: unknown): OpenApiLicense {
	const { name, ...found } = license(where, value)
	if (name === undefined || name === '') throw new TypeError(`${where} needs a name`)
	if (found.identifier !== undefined && found.url !== undefined)
		throw new TypeError(`${where} has an identifier and a url: keep one`)
	return value as OpenApiLicense // as `license` has read it
}

/** Without braces, which are variables in OpenAPI, and without credentials, which would be published. */
const SERVER = /^(?:https?:\/\/(?=[\w[])|\/(?!\/))[\w\-.~%!$&'()*+,;=:[\]/]*$/i

/** Removes the trailing slash, because paths begin with one. */
function serverIn(where: string, url: unknown): string {
	if (typeof url === 'string' && SERVER.test(url) && URL.canParse(url, 'http://localhost'))
		return url.replace(/(?<=.)\/+$/, '')
	const what = 'a URL of http or https, or a path that begins with a slash, without a query'
	throw refusal(where, `${what}: ${SERVERS}`, url)
}
