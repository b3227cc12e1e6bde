-- The blog's tables, where they are not there yet. Each statement ends in a semicolon at the end of a line.

create table if not exists authors (
	id integer primary key autoincrement,
	name varchar(100) not null,
	email varchar(200) not null unique,
	about text not null default '',
	joined date not null default current_date
);

create table if not exists articles (
	id integer primary key autoincrement,
	author_id int not null references authors (id),
	topic varchar(30) not null,
	tags json not null default '[]',
	title varchar(200) not null,
	body text not null,
	published datetime not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
	version int not null default 1
);

create index if not exists articles_by_author on articles (author_id, published);
create index if not exists articles_by_topic on articles (topic, published);
create index if not exists articles_by_day on articles (published, id);

create table if not exists comments (
	id integer primary key autoincrement,
	article_id int not null references articles (id) on delete cascade,
	name varchar(100) not null,
	text varchar(2000) not null,
	written datetime not null default (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

create index if not exists comments_by_article on comments (article_id, written);
