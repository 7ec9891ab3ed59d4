package tern.sample.consumer.web;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import tern.rpc.spring.RpcReference;
import tern.sample.api.EchoService;
import tern.sample.api.Person;

@RestController
class EchoController {

    private final EchoService echo;

    EchoController(@RpcReference EchoService echo) {
        this.echo = echo;
    }

    @PostMapping(path = "/echo", consumes = MediaType.TEXT_PLAIN_VALUE, produces = MediaType.TEXT_PLAIN_VALUE)
    String text(@RequestBody String text) {
        return echo.echo(text);
    }

    @PostMapping(path = "/echo", consumes = MediaType.APPLICATION_JSON_VALUE)
    Person person(@RequestBody Person person) {
        return echo.echo(person);
    }
}
