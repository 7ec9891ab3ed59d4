package org.springframework.security.web.server;

/** Stands for the interface of Spring Security, so that the tests need no web server. */
public interface SecurityWebFilterChain {}
