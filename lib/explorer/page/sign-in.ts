/** The dialog for credentials, a bearer token or an HMAC key. Inputs are emptied as soon as they are submitted. */
import type { App } from './app.ts'
import { button, el, labelled, onSubmit } from './dom.ts'
import { ANONYMOUS, bearerSession, hmacSession, type Session } from './session.ts'

export function signInPart(app: App): HTMLElement {
	const box = signInBox(app)
	const { kind, keyId } = app.session
	const words = { none: 'Credentials', bearer: 'Bearer token', hmac: `Key ${keyId}` }
	const open = button(
		[el('span', { class: 'lamp', 'aria-hidden': 'true' }), words[kind]],
		{ class: `credentials ${kind}`, 'data-key': 'credentials', 'aria-haspopup': 'dialog' },
		() => box.showModal(),
	)
	return el('div', {}, open, box)
}

function signInBox(app: App): HTMLDialogElement {
	const alert = el('p', { class: 'wrong', role: 'alert' })
	const box = el('dialog', { 'aria-labelledby': 'credentials-title' })
	const signIn: SignIn = async (make, secret) => {
		try {
			const session = await make()
			box.close()
			await app.useSession(session)
		} catch (error) {
			alert.textContent = error instanceof Error ? error.message : String(error)
			secret?.focus()
		}
	}
	box.append(
		el('h2', { id: 'credentials-title' }, 'Credentials'),
		el(
			'p',
			{ class: 'quiet' },
			'Kept in this page until it is closed or reloaded; not in storage, cookies or URLs.',
		),
		bearerForm(signIn),
		hmacForm(signIn),
		alert,
		el(
			'div',
			{ class: 'form-foot' },
			button('Close', {}, () => box.close()),
			app.session.kind !== 'none' &&
				button('Forget them', { class: 'danger' }, () => void signIn(() => ANONYMOUS)),
		),
	)
	box.addEventListener('close', () => {
		alert.textContent = ''
		for (const input of box.querySelectorAll('input')) input.value = ''
	})
	return box
}

/** `secret` is focused if `make` fails. */
type SignIn = (make: () => Promise<Session> | Session, secret?: HTMLInputElement) => Promise<void>

function bearerForm(signIn: SignIn): HTMLFormElement {
	const parts = { name: 'Bearer token', fields: [], secret: 'Token', send: 'Use token' }
	return credentialsForm(signIn, parts, (token) => {
		if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('A token is printable ASCII without spaces.')
		return bearerSession(token)
	})
}

function hmacForm(signIn: SignIn): HTMLFormElement {
	const id = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' })
	const fields = [labelled('Key id', id)]
	const parts = { name: 'HMAC key', fields, secret: 'Secret, base64', send: 'Use key' }
	return credentialsForm(signIn, parts, (secret) => {
		if (!/^[\x20-\x7e]{1,128}$/.test(id.value)) throw new TypeError('A key has an id of printable ASCII.')
		return hmacSession(id.value, secret.trim())
	})
}

interface FormParts {
	readonly name: string
	readonly fields: readonly HTMLElement[]
	/** The label of the secret's input. */
	readonly secret: string
	readonly send: string
}

function credentialsForm(
	signIn: SignIn,
	{ name, fields, secret, send }: FormParts,
	make: (secret: string) => Promise<Session> | Session,
): HTMLFormElement {
	const input = el('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' })
	const form = el(
		'form',
		{ autocomplete: 'off', novalidate: true },
		el(
			'fieldset',
			{},
			el('legend', {}, name),
			...fields,
			labelled(secret, input),
			el('button', { type: 'submit', class: 'primary' }, send),
		),
	)
	return onSubmit(form, () => {
		const { value } = input
		input.value = ''
		void signIn(() => make(value), input)
	})
}
