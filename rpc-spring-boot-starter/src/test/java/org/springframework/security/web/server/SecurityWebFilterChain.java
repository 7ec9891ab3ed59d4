package org.springframework.security.web.server;

/** Has the name of the interface of Spring Security, so that the tests need no web server. */
public interface SecurityWebFilterChain {}
