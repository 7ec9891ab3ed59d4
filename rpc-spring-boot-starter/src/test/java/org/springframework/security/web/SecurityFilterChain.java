package org.springframework.security.web;

/** Replaces Spring Security's interface of the same name, so that the tests need no web server. */
public interface SecurityFilterChain {}
