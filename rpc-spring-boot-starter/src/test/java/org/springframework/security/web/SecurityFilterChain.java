package org.springframework.security.web;

/** Has the same name as Spring Security's interface, so that the tests need no web server. */
public interface SecurityFilterChain {}
