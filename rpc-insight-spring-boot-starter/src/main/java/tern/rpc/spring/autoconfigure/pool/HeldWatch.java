package tern.rpc.spring.autoconfigure.pool;

import org.springframework.beans.factory.config.BeanPostProcessor;

/** Measures beans of some types, and also objects of these types in the fields of the application's beans. */
interface HeldWatch extends BeanPostProcessor {}
