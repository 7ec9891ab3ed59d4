package org.springframework.security.web.server;

/** Has the same name as Spring Security's interface, so that the tests need no web server. */
public interface SecurityWebFilterChain {}
