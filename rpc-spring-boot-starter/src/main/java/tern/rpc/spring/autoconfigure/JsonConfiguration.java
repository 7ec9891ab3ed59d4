package tern.rpc.spring.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import tern.rpc.serialization.JsonFormat;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.serialization.json.JsonLimits;
import tern.rpc.settings.RpcStartException;
import tools.jackson.databind.json.JsonMapper;

/** Configures JSON with the application's mapper, if Jackson and tern-rpc-json are on the class path. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({JsonMapper.class, JsonCodec.class})
class JsonConfiguration {

    @Bean
    @Lazy
    @ConditionalOnMissingBean(JsonFormat.class)
    JsonCodec rpcJsonCodec(ObjectProvider<JsonMapper> mapper, RpcLimitsProperties limits) {
        JsonLimits defaults = JsonLimits.defaults();
        ReadingLimits reading = ReadingLimits.of(limits);
        JsonMapper used = mapper.getIfAvailable(() -> JsonMapper.builder().build());
        try {
            return new JsonCodec(
                    used,
                    new JsonLimits(
                            reading.depth(),
                            defaults.numberDigits(),
                            defaults.nameLength(),
                            reading.keys().nonScalarKeys(),
                            reading.keys().equalKeys(),
                            reading.keys().keySteps()));
        } catch (IllegalArgumentException e) {
            throw new RpcStartException(
                    "RPC cannot use the application's JsonMapper for JSON: " + e.getMessage(),
                    "Give RPC a separate mapper with a bean: @Bean JsonCodec rpcJson() { return new"
                            + " JsonCodec(JsonMapper.builder().build()); }",
                    e);
        }
    }
}
