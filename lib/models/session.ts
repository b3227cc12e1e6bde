/**
 * `DatabaseSession`: the role and settings that a database runs statements with, for row level security.
 * `CrudHandler.session()` returns one, and models that have `withSession` run statements in it.
 */
import { isPlain, nearest } from '../base/options.ts'
import type { Model } from './model.ts'

/** The role and the settings that statements run with, each for its own transaction only. */
export interface DatabaseSession {
	/** A role of the database, which the connection's user must be a member of. @default the connection's user */
	readonly role?: string
	/** Values by setting, such as `request.jwt.claims`; policies read them with `current_setting()`. @default none */
	readonly settings?: Readonly<Record<string, string>>
}

/** A model that can run its statements in a session. */
export interface SessionModel extends Model {
	/**
	 * The same records, as the session's role and settings show them.
	 *
	 * @throws TypeError for unknown members, names that can't be roles or settings, and values that aren't strings
	 */
	withSession(session: DatabaseSession): Model
}

export function takesSessions(model: Model): model is SessionModel {
	return 'withSession' in model && typeof model.withSession === 'function'
}

const MEMBERS = ['role', 'settings'] as const
const SETTING = /^[a-z_][a-z0-9_.]*$/
/** Settings that would undo the role, or let a read-only transaction write. */
const RESERVED = /^(?:role|session_authorization|is_superuser|transaction_.*)$/

/**
 * Checks a session.
 *
 * @param place names it in errors: `Notes.session()`
 * @throws TypeError unless it is an object of a role and settings: an `undefined` must not give access to more records
 */
export function readSession(place: string, given: unknown): DatabaseSession {
	if (!isPlain(given))
		throw new TypeError(
			`${place}: a session must be an object, such as { role: 'web_user', settings: { 'app.user': id } }, or {} for none`,
		)
	for (const name of Object.keys(given))
		if (!MEMBERS.some((member) => member === name))
			throw new TypeError(`${place}.${name} is not part of a session${nearest(name, MEMBERS)}`)
	const { role, settings } = given as DatabaseSession // each is checked below
	if ('role' in given) checkRole(place, role)
	if ('settings' in given) checkSettings(place, settings)
	return given
}

function checkRole(place: string, role: unknown): void {
	if (typeof role !== 'string' || role === '' || role.includes('\0'))
		throw new TypeError(`${place}.role must be the name of a role, got ${kindOf(role)}`)
	// PostgreSQL's word for the connection's own user.
	if (role === 'none') throw new TypeError(`${place}.role can't be none, which would give up the role`)
}

function checkSettings(place: string, settings: unknown): void {
	if (!isPlain(settings))
		throw new TypeError(`${place}.settings must be an object of texts, got ${kindOf(settings)}`)
	for (const [name, value] of Object.entries(settings)) {
		if (!SETTING.test(name))
			throw new TypeError(
				`${place}.settings: ${JSON.stringify(name)} is not a setting: names have small letters, digits, _ and dots`,
			)
		if (RESERVED.test(name)) throw new TypeError(`${place}.settings: ${name} can't be set here`)
		if (typeof value !== 'string' || value.includes('\0'))
			throw new TypeError(`${place}.settings: ${name} must be a text, got ${kindOf(value)}`)
	}
}

function kindOf(value: unknown): string {
	if (value === null) return 'null'
	if (value === '') return 'an empty text'
	if (typeof value === 'string') return 'a text with a null character'
	return Array.isArray(value) ? 'a list' : typeof value
}

/** A key that is equal only for the same role and settings; empty for a session that has neither. */
export function sessionKey({ role, settings = {} }: DatabaseSession): string {
	const entries = Object.entries(settings)
	if (role === undefined && entries.length === 0) return ''
	return JSON.stringify([role ?? null, ...entries.sort(([a], [b]) => (a < b ? -1 : 1))])
}
