/** What the OpenAPI description says of the API as a whole: the option `openapi` of `createServer`. */
import type { Acl, Authenticator } from '../auth/authenticator.ts'
import { nearest } from '../base/options.ts'
import type { Access } from '../exchange/declarations.ts'

/** Under which terms the API may be used. */
export interface OpenApiLicense {
	/** `'MIT'` */
	readonly name: string
	/** Of SPDX: `'MIT'`; or else a `url`. @default none */
	readonly identifier?: string
	/** Where it can be read. @default none */
	readonly url?: string
}

/** The option `openapi`: what a description says of the API as a whole. */
export interface OpenApiOptions {
	/** @default 'API' */
	readonly title?: string
	/** The version of the API, not of OpenAPI. @default '0' */
	readonly version?: string
	/** May be Markdown. @default none */
	readonly description?: string
	/** Under which terms the API may be used. @default none */
	readonly license?: OpenApiLicense
	/**
	 * URLs that all paths are below, `base` being in the paths: `['https://api.example.com/v1', '/shop']`; absolute, of
	 * http or https, or a path. For proxies that cut off a part of the path, and for hosts of other names.
	 *
	 * @default where the description was asked for: `/`, or what a router in front has cut off
	 */
	readonly servers?: readonly string[]
	/** Who may read the description, as `access` of a handler says it. @default 'anyone' */
	readonly access?: Access
}

/** All there and checked. */
export interface OpenApiInfo {
	readonly title: string
	readonly version: string
	readonly description: string | undefined
	readonly license: OpenApiLicense | undefined
	/** As they are written; `undefined` where it depends on the request. */
	readonly servers: readonly string[] | undefined
	readonly access: Access
	/** The header that every answer has, where there is one. */
	readonly requestId: string | undefined
}

/** Options of the server that the description depends on. */
export interface OpenApiServer {
	readonly authenticator?: Authenticator | undefined
	readonly acl?: Acl | undefined
	readonly requestId?: string | undefined
}

const TEXTS = ['title', 'version', 'description'] as const
const NAMES = [...TEXTS, 'license', 'servers', 'access'] as const
const LICENSE_NAMES = ['name', 'identifier', 'url'] as const

/**
 * @param server its options, which are checked by others
 * @throws TypeError for an option that there isn't, one of the wrong kind, and for access that nobody could have
 */
export function openApiInfo(
	option: boolean | OpenApiOptions | undefined,
	server: OpenApiServer = {},
): OpenApiInfo | undefined {
	if (option === undefined || option === false) return undefined
	const given: OpenApiOptions = option === true ? {} : option
	if (!isObject(given))
		throw new TypeError(`openapi must be true, false, or an object: { ${NAMES.join(', ')} }`)
	checkNames('openapi', given, NAMES)
	for (const name of TEXTS) checkText(`openapi.${name}`, given[name])
	if (given.license !== undefined) checkLicense(given.license)
	const servers = given.servers === undefined ? undefined : serversOf(given.servers)
	if (given.access !== undefined) checkAccess(given.access, server)
	const { title = 'API', version = '0', description, license, access = 'anyone' } = given
	return { title, version, description, license, servers, access, requestId: server.requestId }
}

function isObject(value: unknown): value is object {
	return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkNames(where: string, given: object, names: readonly string[]): void {
	const unknown = Object.keys(given).find((name) => !names.includes(name))
	if (unknown !== undefined)
		throw new TypeError(`${where} has no option ${unknown}${nearest(unknown, names)}`)
}

function checkText(where: string, value: unknown): void {
	if (value === undefined || typeof value === 'string') return
	throw new TypeError(`${where} must be a text, got ${value === null ? 'null' : typeof value}`)
}

function checkLicense(license: unknown): void {
	if (!isObject(license)) throw new TypeError("openapi.license must be an object: { name: 'MIT', url }")
	checkNames('openapi.license', license, LICENSE_NAMES)
	const given: Partial<OpenApiLicense> = license
	if (given.name === undefined || given.name === '') throw new TypeError('openapi.license needs a name')
	for (const name of LICENSE_NAMES) checkText(`openapi.license.${name}`, given[name])
	if (given.identifier !== undefined && given.url !== undefined)
		throw new TypeError('openapi.license has an identifier and a url: keep one')
}

/** Without a slash at the end, as paths begin with one. */
function serversOf(servers: unknown): string[] {
	if (!Array.isArray(servers) || servers.length === 0)
		throw new TypeError(`openapi.servers must be an array of at least one URL: ${SERVERS}`)
	return [...servers].map((url: unknown, at) => {
		if (!isServer(url))
			throw new TypeError(
				`openapi.servers[${at}] must be a URL of http or https, or a path that begins with a slash, without a query: ${SERVERS}, got ${typeof url === 'string' ? JSON.stringify(url) : typeof url}`,
			)
		return url.replace(/(?<=.)\/+$/, '')
	})
}

const SERVERS = "['https://api.example.com/v1', '/shop']"

/** No braces, which are variables in OpenAPI, and no credentials, which everybody would read. */
function isServer(url: unknown): url is string {
	if (typeof url !== 'string' || !/^(?:https?:\/\/(?=[\w[])|\/(?!\/))[\w\-.~%!$&'()*+,;=:[\]/]*$/i.test(url))
		return false
	return URL.canParse(url, 'http://localhost')
}

/** The same is checked of every handler; here in the words of whoever has typed this option. */
function checkAccess(access: unknown, { authenticator, acl }: OpenApiServer): void {
	if (access === 'anyone') return
	const isList = Array.isArray(access) && access.length > 0
	if (access !== 'user' && !(isList && access.every((one) => typeof one === 'string' && one !== '')))
		throw new TypeError(
			"openapi.access must be 'anyone', 'user', or an array of at least one resource name: ['api:read']",
		)
	if (authenticator === undefined)
		throw new TypeError(
			'openapi.access needs the option authenticator of createServer: nobody could be let in',
		)
	if (isList && acl === undefined)
		throw new TypeError('openapi.access names resources, which need the option acl of createServer')
}
