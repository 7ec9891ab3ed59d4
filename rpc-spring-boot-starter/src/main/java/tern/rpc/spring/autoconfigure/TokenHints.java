package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import tern.rpc.transport.Token;

/** Registers hints that allow Spring to convert property values to tokens in a native image. */
final class TokenHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.reflection().registerType(Token.class, MemberCategory.INVOKE_PUBLIC_METHODS);
    }
}
