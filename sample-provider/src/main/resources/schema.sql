-- Works with MariaDB, MySQL, and H2 in MySQL mode.
create table if not exists users (
    id bigint not null auto_increment primary key,
    name varchar(64) not null,
    sex int not null,
    birthday date,
    email varchar(128) not null,
    mobile varchar(32) not null,
    address varchar(256) not null,
    icon varchar(256) not null,
    permissions varchar(256) not null,
    status int not null,
    create_time datetime(3) not null,
    update_time datetime(3) not null,
    unique key users_email (email)
);

create table if not exists tenants (
    id bigint not null auto_increment primary key,
    name varchar(64) not null,
    candidate_limit int not null,
    unique key tenants_name (name)
);

create table if not exists agents (
    id bigint not null primary key,
    name varchar(64) not null,
    skill varchar(64) not null,
    key agents_skill (skill, id)
);

create table if not exists assignments (
    request_id varchar(64) not null primary key,
    tenant varchar(64) not null,
    agent_id bigint not null,
    create_time datetime(3) not null
);
