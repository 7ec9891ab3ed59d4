package tern.sample.provider;

import tern.rpc.spring.RpcService;
import tern.sample.api.EchoService;
import tern.sample.api.Person;

@RpcService
class EchoBean implements EchoService {

    @Override
    public String echo(String text) {
        return text;
    }

    @Override
    public Person echo(Person person) {
        return person;
    }
}
