package com.fasterxml.jackson.databind.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** A copy of the annotation of Jackson 2, whose jar is not on the class path of these tests. */
@Retention(RetentionPolicy.RUNTIME)
public @interface JsonSerialize {
    Class<?> using() default Void.class;
}
