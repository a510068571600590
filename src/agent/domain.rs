//! The agent as a domain: it answers questions by calling the tools of the others.

mod answers;
mod lexicons;
mod wiring;

use self::{answers::Answers, wiring::attach};
use crate::{
    faces::{agui, grpc, spec_routes},
    prompts::Prompts,
};
use toolwire_base::files::{Problem, Problems};
use toolwire_server::domain::{Attach, Domain, OpenError, Opened, Opening};

pub fn domain() -> Domain {
    Domain {
        routes: || spec_routes::routes().into_iter().chain(agui::routes()).collect(),
        rpc_routes: grpc::RPC_ROUTES,
        open: Box::new(open),
        check: Box::new(check),
        ..Domain::new("agent")
    }
}

fn open(opening: &Opening<'_>) -> Result<Opened, OpenError> {
    let answers = Answers::open(opening)?;
    let data = answers.files();
    let attach: Attach = Box::new(|attaching| attach(answers, attaching));
    Ok(Opened {
        grpc: vec![grpc::agent_service(), grpc::job_service()],
        data,
        attach: vec![attach],
        ..Opened::default()
    })
}

/// The problems of templates, of prompts, even where no model is asked, and of lexicons.
fn check(opening: &Opening<'_>) -> Vec<Problem> {
    let of_templates = answers::templates(opening).err();
    let of_prompts = Prompts::open(opening.tree.clone(), opening.config.agent_roles.prompts()).err();
    let of_lexicons = lexicons::read(opening.domains).err();
    let all = [of_templates, of_prompts, of_lexicons].into_iter().flatten();
    all.flat_map(|Problems(problems)| problems).collect()
}
