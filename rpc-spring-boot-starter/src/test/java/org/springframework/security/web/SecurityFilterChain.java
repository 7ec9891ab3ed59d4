package org.springframework.security.web;

/** Stands for the interface of Spring Security, so that the tests need no web server. */
public interface SecurityFilterChain {}
